# The command perrecord from R: what it prints with --json, as lists.

perrecord <- function(..., program = Sys.getenv("PERRECORD", "perrecord")) {
  told <- tempfile()
  on.exit(unlink(told))
  arguments <- c(as.character(c(...)), "--json")
  # R has its own libraries looked up first, and Python would be given those in place of its own.
  shown <- suppressWarnings(
    system2(program, shQuote(arguments), stdout = TRUE, stderr = told, env = "LD_LIBRARY_PATH=")
  )
  status <- attr(shown, "status")
  if (!is.null(status) && status != 0L) {
    stop(paste(c(sprintf("perrecord ended with status %d.", status), readLines(told, warn = FALSE)),
               collapse = "\n"), call. = FALSE)
  }
  fromJSON(paste(shown, collapse = "\n"), simplifyVector = FALSE)
}

# A table of a release, with the types that its data package declares: codes keep their zeros.
perrecord_table <- function(folder, name) {
  package <- fromJSON(file.path(folder, "datapackage.json"), simplifyVector = FALSE)
  names <- vapply(package$resources, function(each) each$name, "")
  if (!name %in% names) {
    stop(sprintf("the release has no table '%s'; expected one of %s.", name, toString(names)),
         call. = FALSE)
  }
  found <- package$resources[[match(name, names)]]
  fields <- found$schema$fields
  kinds <- vapply(fields, function(each) {
    switch(each$type, integer = , number = "numeric", boolean = "logical", "character")
  }, "")
  names(kinds) <- vapply(fields, function(each) each$name, "")
  read.csv(file.path(folder, found$path), colClasses = kinds, check.names = FALSE,
           na.strings = "", encoding = "UTF-8")
}
