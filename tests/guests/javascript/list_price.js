// A ranking policy in JavaScript: every instance costs its list price, and the cheapest is tried first.
//
// Its engine interprets, so that each row costs some thousand times what one instruction does: plain loops over columns, and nothing made
// for a row.

const LIST_PRICE = 1; // the first reason in the manifest

// The list prices of these offerings, in their order.
function listed(catalog, offerings) {
  const prices = new Float64Array(offerings.length);
  for (let row = 0; row < offerings.length; row += 1) {
    prices[row] = catalog.oPrice[offerings[row]];
  }
  return prices;
}

const because = (rows) => new Uint16Array(rows).fill(LIST_PRICE);

export const ranker = {
  price(_context, _settings, _symbols, catalog, pools) {
    const prices = listed(catalog, pools.cand);
    const reasons = because(prices.length);
    const none = new Uint32Array(prices.length);
    return { first: prices, firstCount: none, firstGroup: none, firstReason: reasons, then: prices, thenReason: reasons };
  },

  order(_context, _settings, _symbols, catalog, claims) {
    const score = listed(catalog, claims.cand);
    return { score, reason: because(score.length) };
  },

  // Nothing to say beyond the reasons.
  explainPrice: () => [],
  explainOrder: () => [],
};

// There are no settings, so that there is nothing wrong with them.
export const configure = { validateSettings() {} };
