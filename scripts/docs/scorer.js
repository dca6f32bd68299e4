// How the search of the documentation ranks pages: guides before decisions, generated tables and
// the changelog, which name every word that there is.
"use strict";

const LOOKED_UP = /^(adr\/|benchmark|changelog|contributing|events|harness-rules|roles|runtime$)/;
const AFTER_THE_GUIDES = 20;

// The search reads all of these; the figures beside `score` are those that it has by itself.
var Scorer = {
  score: ([page, , , , score]) => (LOOKED_UP.test(page) ? score - AFTER_THE_GUIDES : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
