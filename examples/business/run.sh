#!/bin/sh
# From nothing to a published release, with synthetic establishments. Run from anywhere:
#   examples/business/run.sh [FOLDER] [ROWS]
# FOLDER is demo if not given. What is there already is kept: run it again after an interruption, or
# after changing FOLDER/release.yaml. perrecord must be on the path, or PERRECORD say where it is.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
folder=${1:-demo}
rows=${2:-300000}
perrecord=$(command -v "${PERRECORD:-perrecord}")
case $perrecord in /*) ;; *) perrecord=$PWD/$perrecord ;; esac

step() {
    printf '\n$ perrecord %s\n' "$*" >&2
    "$perrecord" "$@"
}

mkdir -p "$folder"
cd "$folder"
for spec in release.yaml splitting.yaml; do
    [ -e "$spec" ] || cp "$here/$spec" .
done

[ -e est.parquet ] || step synth business --rows "$rows" --out est.parquet
[ -e counties.csv ] || step synth keys --out .
[ -e est.ledger ] || step ledger create release.yaml
step check release.yaml
step check splitting.yaml           # what the same tables would cost by splitting; nothing is charged
step release release.yaml --out published
step policy published --record emp=150 --record payann=9000 --record payqtr1=2200 \
    --record county=37001 --record state=37 --record naics2=62

cat >&2 <<END

Done. "Example records" above is what they lose by this release, and what splitting would have cost
them. Look at:
  $folder/published/policy.html      what a record loses; open it in a browser and type one in
  $folder/published/tables/          the answers, as Parquet and CSV, with their errors
  $folder/published/methodology.md   how they were made
  $folder/release.yaml               the spec that all of it follows from
END
