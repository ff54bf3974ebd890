"""The version of the package; a release says which one made it."""

VERSION = "0.2.0"
