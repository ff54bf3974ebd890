# What a record loses, by docs/policy-format.md alone: nothing here is taken from perrecord's code.

ON_INTEGERS <- 2^-26

perrecord_policy <- function(path) {
  text <- paste(readLines(path, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  found <- fromJSON(text, simplifyVector = FALSE, bigint_as_char = TRUE)
  known <- list("perrecord-policy" = 1:2, "perrecord-published-policy" = 1:2)
  if (is.null(found$format) || !found$format %in% names(known)) {
    stop("this is not a perrecord policy; expected the file policy.json of a release.", call. = FALSE)
  }
  if (!found$version %in% known[[found$format]]) {
    stop(sprintf("the policy is of version %s; this package reads 1 and 2.", found$version),
         call. = FALSE)
  }
  structure(found, class = "perrecord_policy")
}

is_published <- function(policy) policy$format == "perrecord-published-policy"

print.perrecord_policy <- function(x, ...) {
  if (is_published(x)) {
    cat(sprintf("<published policy: %s, %d charges>\n", x$title, length(x$charges)))
  } else {
    cat(sprintf("<policy in %s, %d terms>\n", x$currency, length(x$terms)))
  }
  invisible(x)
}

perrecord_loss <- function(policy, record, charge = NULL) {
  chosen <- chosen_policy(policy, charge)
  record <- rounded(policy, record)
  form_loss(chosen, record, chosen$splits, if (chosen$currency == "rho") 2 else 1)
}

perrecord_delta <- function(policy, record, charge = NULL) {
  chosen <- chosen_policy(policy, charge)
  record <- rounded(policy, record)
  deltas <- vapply(form_slots(chosen, record, chosen$splits), function(slot) {
    pieces <- if (is.null(slot$split)) 1 else pieces_of(chosen$splits[[slot$split + 1L]], record)
    gaussian_tail(as_double(exact(slot$rho)), slot$threshold - big_number(pieces))
  }, numeric(1))
  -expm1(sum(log1p(-deltas)))
}

perrecord_record <- function(policy, record) {
  lapply(rounded(policy, record), function(value) {
    if (is.list(value)) as_double(value) else value
  })
}

# The policy itself, or of a published one its total or that of one charge.
chosen_policy <- function(policy, charge) {
  if (!is_published(policy)) return(policy)
  if (is.null(charge)) return(policy$total)
  names <- vapply(policy$charges, function(each) each$name, "")
  if (!charge %in% names) {
    stop(sprintf("there is no charge '%s'; expected one of %s.", charge, toString(names)),
         call. = FALSE)
  }
  policy$charges[[match(charge, names)]]$policy
}

# -- the record ---------------------------------------------------------------------------------

is_missing <- function(value) is.null(value) || (length(value) == 1L && is.na(value))

# The record with every measure on its grid, where the policy says which; NULL where it has none.
rounded <- function(policy, record) {
  if (!is_published(policy)) return(record)
  found <- record
  for (field in policy$fields) {
    if (field$kind != "measure") next
    value <- if (is.null(field$computed)) {
      if (!field$name %in% names(record)) {
        stop(sprintf("the record has no '%s'; give a number, or NA.", field$name), call. = FALSE)
      }
      if (is_missing(record[[field$name]])) NULL else exact(record[[field$name]])
    } else {
      computed(field$computed, found)
    }
    found[field$name] <- list(on_grid(value, field))
  }
  found
}

computed <- function(rule, record) {
  if (any(vapply(rule$reads, function(name) is.null(record[[name]]), NA))) return(NULL)
  total <- ZERO
  for (term in rule$terms) {
    product <- exact(term[[1L]])
    for (name in term[[2L]]) product <- exact_times(product, record[[name]])
    total <- exact_plus(total, product)
  }
  total
}

on_grid <- function(value, field) {
  if (is.null(value)) return(NULL)
  step <- exact(field$resolution)
  steps <- exact_rounded(exact_divided(exact_size(value), step))
  largest <- big(format_whole(field$largest))
  if (big_compare(steps, largest) > 0) {
    if (field$outside == "null") return(NULL)
    steps <- largest
  }
  exact_times(fraction(value$sign, steps), step)
}

format_whole <- function(value) {
  if (is.character(value)) value else format(value, scientific = FALSE, trim = TRUE)
}

# The size of a measure; nothing where it is missing.
size_of <- function(record, name) {
  if (!name %in% names(record)) {
    stop(sprintf("the record has no '%s'; give a number, or NA.", name), call. = FALSE)
  }
  value <- record[[name]]
  if (is.list(value)) return(exact_size(value))
  if (is_missing(value)) ZERO else exact_size(exact(value))
}

# -- cases --------------------------------------------------------------------------------------

# A value with its type: "1", 1 and TRUE differ, and a missing one fits null.
tagged <- function(value) {
  if (is_missing(value)) return("n")
  if (is.factor(value)) value <- as.character(value)
  if (is.character(value)) return(paste0("t", value))
  if (is.logical(value)) return(if (value) "b1" else "b0")
  if (abs(value) > 2^53) {
    stop("a dimension is a whole number beyond 2^53, which R does not tell from others.",
         call. = FALSE)
  }
  paste0("i", format(value, scientific = FALSE, trim = TRUE, digits = 16L))
}

case_of <- function(table, record, what) {
  own <- vapply(table$dimensions, function(name) {
    if (!name %in% names(record)) {
      stop(sprintf("the record has no '%s'; give a value, or NA.", name), call. = FALSE)
    }
    tagged(record[[name]])
  }, "")
  keys <- lapply(table$cases, function(each) vapply(each$when, tagged, ""))
  for (place in seq_along(own)) {
    kinds <- unique(substr(vapply(keys, function(key) key[place], ""), 1L, 1L))
    kinds <- setdiff(kinds, "n")
    if (own[place] != "n" && length(kinds) && !substr(own[place], 1L, 1L) %in% kinds) {
      stop(sprintf("'%s' of the record is of a different type from that in the policy.",
                   table$dimensions[[place]]), call. = FALSE)
    }
  }
  for (index in seq_along(keys)) {
    if (identical(unname(keys[[index]]), unname(own))) return(table$cases[[index]][[what]])
  }
  if (is.null(table$default)) stop("no rule of the policy covers this record.", call. = FALSE)
  table$default
}

pieces_of <- function(split, record) {
  if (!is.null(split$dimensions)) return(pieces_of(case_of(split, record, "split"), record))
  most <- 1
  for (name in names(split$thresholds)) {
    parts <- exact_ceiling(exact_divided(size_of(record, name), exact(split$thresholds[[name]])))
    if (big_compare(parts, most) > 0) most <- parts
  }
  if (is.null(split$cap)) return(most)
  cap <- big(format_whole(split$cap))
  if (big_compare(most, cap) > 0) cap else most
}

# -- losses -------------------------------------------------------------------------------------

form_loss <- function(form, record, splits, power) {
  sum(vapply(form$terms, term_loss, numeric(1), record, splits, power))
}

form_slots <- function(form, record, splits) {
  inner <- lapply(form$terms, function(term) {
    if (term$type == "by") form_slots(case_of(term, record, "policy"), record, splits)
  })
  c(form$slots, unlist(inner, recursive = FALSE))
}

term_loss <- function(term, record, splits, power) {
  if (term$type == "largest") {
    return(max(vapply(term$options, form_loss, numeric(1), record, splits, power)))
  }
  if (term$type == "by") return(form_loss(case_of(term, record, "policy"), record, splits, power))
  amount <- exact(term$amount)
  switch(term$type,
    constant = as_double(amount),
    split = as_double(amount) * big_number(pieces_of(splits[[term$split + 1L]], record))^power,
    exact = {
      ratio <- exact_divided(size_of(record, term$measure), exact(term$threshold))
      as_double(amount) * as_double(ratio)^power
    },
    tapered = , tapered_epsilon = {
      b <- as_double(size_of(record, term$measure)) / (2 * sqrt(as_double(exact(term$spread))))
      nu <- as.integer(term$nu)
      as_double(amount) * if (term$type == "tapered") student_rho(b, nu) else (nu + 1) * asinh(b)
    },
    blurred = , blurred_epsilon = {
      d <- as_double(size_of(record, term$measure))
      moved <- blurred(d, as_double(exact(term$spread)), as_double(exact(term$by)),
                       as.integer(term$nu))
      as_double(amount) * moved[[if (term$type == "blurred") "rho" else "epsilon"]]
    },
    stop(sprintf("the policy has a term of type '%s', which this package does not know.",
                 term$type), call. = FALSE)
  )
}

# Student noise at B = |x| / (2 sqrt A); written so that no power of B overflows.
student_rho <- function(b, nu) {
  found <- (1 + ON_INTEGERS) * 4 * asinh(b) * tanh(asinh(b))
  if (nu == 3L) return(found)
  near <- 1 / (1 + b^2)
  found * (2 - near) * (1 + near + 4 / 5 * near^2)
}

# A number that moves by d, and the spread of its noise from A0 to A0 + nu by^2 d^2.
blurred <- function(d, spread, by, nu) {
  m <- (nu + 1) / 2
  more <- nu * by^2 * (d / sqrt(spread))^2
  wide <- sqrt(1 + more)
  log_ratio <- log1p(more) / 2
  moved <- d / sqrt(spread)
  t <- 2 * asinh(sqrt(moved^2 + (more / (1 + wide))^2) / 2 / sqrt(wide))
  epsilon <- m * t + (m - 1 + ON_INTEGERS) * log_ratio
  widened <- min(pure((nu + ON_INTEGERS) * log_ratio), ranged(2 * m * log_ratio))
  apart <- (sqrt(student_rho(moved / (2 * wide), nu)) + sqrt(widened))^2
  list(epsilon = epsilon, rho = min(pure(epsilon), ranged(2 * m * t), apart))
}

pure <- function(epsilon) epsilon * tanh(epsilon / 2)

# f(eta) = y - 1 - ln y, y = eta / (1 - e^-eta); by its series where these nearly cancel.
ranged <- function(eta) {
  if (eta < 0.1) {
    h <- (eta / 2)^2
    return(h * (1 / 2 - h * (1 / 36 - h * (1 / 405 - h * (1 / 4200 - h / 42525)))))
  }
  y <- eta / -expm1(-eta)
  y - 1 - log(y)
}

# Pr[Z >= start], Z discrete Gaussian with parameter 1 / (2 rho).
gaussian_tail <- function(rho, start) {
  reach <- ceiling(sqrt(750 / rho)) + 1
  if (start > reach) return(0)
  if (start < -reach) return(1)
  weights <- exp(-rho * seq(-reach, reach)^2)
  sum(weights[seq(-reach, reach) >= start]) / sum(weights)
}
