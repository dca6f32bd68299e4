/** The models that can be asked for: their order, the one to begin with, and who bills them. Pure. */

import type { OfferedModel } from "../api/types.gen";

/** As the portal's own call tells them. */
export type Offer = Pick<OfferedModel, "id" | "name" | "multiplier">;

const FAVOURITE = "gpt-5.2";
const COLLATOR = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

export const byName = (offers: readonly Offer[]): Offer[] =>
  [...offers].sort((a, b) => COLLATOR.compare(a.name, b.name) || COLLATOR.compare(a.id, b.id));

/** The favourite where it is offered, else the cheapest; of equals the first. */
export function usualModel(offers: readonly Offer[]): Offer | null {
  const favourite = offers.find((offer) => offer.id === FAVOURITE);
  if (favourite !== undefined) return favourite;
  return offers.reduce<Offer | null>(
    (best, offer) => (best === null || offer.multiplier < best.multiplier ? offer : best),
    null,
  );
}

/** How often one request of it counts. */
export const times = (multiplier: number): string => `${Number(multiplier.toFixed(2))}×`;

/** Who answers, and who bills it; null where that is not known yet. */
export function billing(source: string | undefined): string | null {
  switch (source) {
    case undefined:
      return null;
    case "copilot":
      return "Billed by GitHub Copilot in premium requests.";
    case "rehearsal":
      return "Follows a script on this machine. Nothing is sent to a model service.";
    default:
      return `Served and billed by your provider ${source}.`;
  }
}
