import { expect, test } from "vitest";
import type { HostTraffic } from "../api/types.gen";
import { trafficAfter } from "./cage";

const refused = (host: string) =>
  ({ kind: "egress.refused", host, port: 443, why: "No.", count: 1 }) as const;

test("more hosts than a view has are added up under one name", () => {
  let told: HostTraffic[] = [];
  for (let number = 0; number < 150; number++) {
    told = trafficAfter(told, refused(`h${number}.example`));
  }
  told = trafficAfter(told, refused("h3.example"));
  expect(told).toHaveLength(101);
  expect(told.at(-1)).toMatchObject({ host: "other hosts", port: null, refused: 50 });
  expect(told[3]).toMatchObject({ host: "h3.example", refused: 2 });
});
