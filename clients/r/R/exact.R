# Exact arithmetic in base R: whole numbers as digits of base 10^6, the lowest first, and fractions.
# Thresholds and grids are decided by it; no double is near a tie.

BASE <- 1e6

big_trim <- function(x) {
  while (length(x) > 1L && x[length(x)] == 0) x <- x[-length(x)]
  x
}

big <- function(text) {
  text <- sub("^0+(?=.)", "", text, perl = TRUE)
  width <- 6L * ceiling(nchar(text) / 6)
  text <- paste0(strrep("0", width - nchar(text)), text)
  starts <- rev(seq(1L, width, by = 6L))
  as.numeric(substring(text, starts, starts + 5L))
}

big_carried <- function(x) {
  place <- 1L
  while (place <= length(x)) {
    over <- floor(x[place] / BASE)
    if (over != 0) {
      x[place] <- x[place] - over * BASE
      if (place == length(x)) x <- c(x, over) else x[place + 1L] <- x[place + 1L] + over
    }
    place <- place + 1L
  }
  big_trim(x)
}

big_padded <- function(x, count) c(x, rep(0, max(0, count - length(x))))

big_plus <- function(a, b) {
  count <- max(length(a), length(b))
  big_carried(big_padded(a, count) + big_padded(b, count))
}

# a - b, where a is not below b.
big_minus <- function(a, b) {
  found <- a - big_padded(b, length(a))
  for (place in seq_along(found)) {
    if (found[place] < 0) {
      found[place] <- found[place] + BASE
      found[place + 1L] <- found[place + 1L] - 1
    }
  }
  big_trim(found)
}

big_times <- function(a, b) {
  found <- rep(0, length(a) + length(b))
  for (place in seq_along(a)) {
    at <- place - 1L + seq_along(b)
    found[at] <- found[at] + a[place] * b
  }
  big_carried(found)
}

big_compare <- function(a, b) {
  if (length(a) != length(b)) return(sign(length(a) - length(b)))
  apart <- rev(a - b)
  apart <- apart[apart != 0]
  if (length(apart)) sign(apart[1L]) else 0
}

big_number <- function(x) sum(x * BASE^(seq_along(x) - 1))

# The quotient without its decimals, and what is left.
big_divided <- function(a, b) {
  quotient <- rep(0, length(a))
  rest <- 0
  for (place in rev(seq_along(a))) {
    rest <- big_trim(c(a[place], rest))
    guess <- max(0, floor(big_number(rest) / big_number(b)))
    taken <- big_times(b, guess)
    while (big_compare(taken, rest) > 0) {
      guess <- guess - 1
      taken <- big_minus(taken, b)
    }
    rest <- big_minus(rest, taken)
    while (big_compare(rest, b) >= 0) {
      guess <- guess + 1
      rest <- big_minus(rest, b)
    }
    quotient[place] <- guess
  }
  list(whole = big_trim(quotient), rest = rest)
}

fraction <- function(sign, top, bottom = 1) list(sign = sign, top = top, bottom = bottom)

ZERO <- fraction(1, 0)

# A number as it is written: "12.50", "-3", "1/3", "2e3"; a number of R by its 15 digits.
exact <- function(value) {
  if (is.numeric(value)) value <- format(value, digits = 15L, scientific = FALSE, trim = TRUE)
  if (grepl("/", value, fixed = TRUE)) {
    parts <- strsplit(value, "/", fixed = TRUE)[[1L]]
    return(exact_divided(exact(parts[1L]), exact(parts[2L])))
  }
  pattern <- "^([+-]?)([0-9]*)\\.?([0-9]*)([eE]([+-]?[0-9]{1,3}))?$"
  found <- regmatches(value, regexec(pattern, value))[[1L]]
  if (length(found) == 0L || !nzchar(paste0(found[3L], found[4L]))) {
    stop("a measure is not a number; expected text such as \"12.5\" or \"1/3\".", call. = FALSE)
  }
  power <- if (nzchar(found[6L])) as.integer(found[6L]) else 0L
  places <- nchar(found[4L]) - power
  top <- paste0(found[3L], found[4L], strrep("0", max(0L, -places)))
  bottom <- paste0("1", strrep("0", max(0L, places)))
  fraction(if (found[2L] == "-") -1 else 1, big(top), big(bottom))
}

is_zero <- function(x) big_compare(x$top, 0) == 0

exact_times <- function(a, b) {
  fraction(a$sign * b$sign, big_times(a$top, b$top), big_times(a$bottom, b$bottom))
}

exact_divided <- function(a, b) {
  if (is_zero(b)) stop("a policy divides by 0; its file is damaged.", call. = FALSE)
  fraction(a$sign * b$sign, big_times(a$top, b$bottom), big_times(a$bottom, b$top))
}

exact_plus <- function(a, b) {
  one <- big_times(a$top, b$bottom)
  two <- big_times(b$top, a$bottom)
  bottom <- big_times(a$bottom, b$bottom)
  if (a$sign == b$sign) return(fraction(a$sign, big_plus(one, two), bottom))
  if (big_compare(one, two) >= 0) return(fraction(a$sign, big_minus(one, two), bottom))
  fraction(b$sign, big_minus(two, one), bottom)
}

exact_size <- function(x) fraction(1, x$top, x$bottom)

# The whole number not below a fraction that is not negative.
exact_ceiling <- function(x) {
  found <- big_divided(x$top, x$bottom)
  if (big_compare(found$rest, 0) > 0) big_plus(found$whole, 1) else found$whole
}

# The nearest whole number, ties away from zero, of the size of a fraction.
exact_rounded <- function(x) {
  twice <- big_plus(big_times(x$top, 2), x$bottom)
  big_divided(twice, big_times(x$bottom, 2))$whole
}

as_double <- function(x) x$sign * (big_number(x$top) / big_number(x$bottom))
