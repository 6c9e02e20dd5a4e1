// A ranking policy in C: every instance costs its list price, and the cheapest is tried first.
#include "plimsoll.h"

enum { LIST_PRICE = 1 }; // the first reason in the manifest

RANKER("price") price_answer *price(const price_question *asked) {
    static price_answer answer;
    const uint32_t rows = asked->p.cand.count;
    TAKE(answer.first, rows), TAKE(answer.first_count, rows), TAKE(answer.first_group, rows);
    TAKE(answer.first_reason, rows), TAKE(answer.then, rows), TAKE(answer.then_reason, rows);
    for (uint32_t row = 0; row < rows; row++) {
        answer.first.at[row] = answer.then.at[row] = asked->c.o_price.at[asked->p.cand.at[row]];
        answer.first_reason.at[row] = answer.then_reason.at[row] = LIST_PRICE;
    }
    return &answer;
}

RANKER("order") order_answer *order(const order_question *asked) {
    static order_answer answer;
    const uint32_t rows = asked->cl.cand.count;
    TAKE(answer.score, rows), TAKE(answer.reason, rows);
    for (uint32_t row = 0; row < rows; row++) {
        answer.score.at[row] = asked->c.o_price.at[asked->cl.cand.at[row]];
        answer.reason.at[row] = LIST_PRICE;
    }
    return &answer;
}

static notes_answer nothing_to_say;
RANKER("explain-price") notes_answer *explain_price(const void *asked) { (void)asked; return &nothing_to_say; }
RANKER("explain-order") notes_answer *explain_order(const void *asked) { (void)asked; return &nothing_to_say; }

// There are no settings, so that there is nothing wrong with them.
EXPORT("plimsoll:policy/configure@0.1.0#validate-settings") notes_answer *validate(const void *at, uint32_t count) {
    (void)at, (void)count;
    return &nothing_to_say;
}
