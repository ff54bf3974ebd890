# Losses that are known by hand: 0.1 + 1/3 * pieces^2, pieces = ceiling(employees / 50).
library(perrecord)
path <- tempfile(fileext = ".json")
writeLines('{"format": "perrecord-policy", "version": 1, "currency": "rho",
  "splits": [{"thresholds": {"employees": "50"}, "cap": null}],
  "terms": [{"type": "constant", "amount": "0.1"}, {"type": "split", "amount": "1/3", "split": 0}],
  "slots": []}', path)
policy <- perrecord_policy(path)
stopifnot(
  all.equal(perrecord_loss(policy, list(employees = "100")), 0.1 + 4 / 3),
  all.equal(perrecord_loss(policy, list(employees = "100.000000000000000000001")), 0.1 + 9 / 3),
  all.equal(perrecord_loss(policy, list(employees = NA)), 0.1 + 1 / 3),
  inherits(try(perrecord_loss(policy, list()), silent = TRUE), "try-error"),
  perrecord_delta(policy, list(employees = 1)) == 0
)
