#!/bin/sh
# Makes a development CA and the leaves that Rankward, kube-scheduler and kube-apiserver need.
# P-256 keys. Files that exist are kept, so a second run adds only what is missing.
set -eu

usage() {
  cat <<'USAGE'
Usage: make-development-ca.sh [--out DIR] [--days N] [--force] [SAN...]

  --out DIR   where the files go (default: ./pki)
  --days N    how long the leaves are valid (default: 365; the CA: ten times as long)
  --force     make everything anew, the CA too
  SAN         DNS names and IP addresses of the server
              (default: localhost 127.0.0.1 rankward.rankward-system.svc)

Without --force a file that exists is never overwritten: a run with other SANs, or one that finds a
certificate without its key, stops with an error.
USAGE
}

fail() {
  echo "make-development-ca.sh: $1" >&2
  exit 1
}

out=pki
days=365
force=no
while [ $# -gt 0 ]; do
  case "$1" in
    --out) [ $# -ge 2 ] || fail "--out needs a directory"; out=$2; shift 2 ;;
    --days) [ $# -ge 2 ] || fail "--days needs a number"; days=$2; shift 2 ;;
    --force) force=yes; shift ;;
    -h | --help) usage; exit 0 ;;
    --) shift; break ;;
    -*) usage >&2; fail "unknown option $1" ;;
    *) break ;;
  esac
done
case "$days" in
  '' | *[!0-9]* | 0*) fail "--days must be a positive whole number" ;;
esac
[ ${#days} -le 4 ] || fail "--days must be at most 9999"
[ $# -gt 0 ] || set -- localhost 127.0.0.1 rankward.rankward-system.svc
command -v openssl >/dev/null || fail "openssl is not installed"

# 1.2.3.4 and ::1 become IP:, everything else DNS:. What could end the list or the section is refused.
sans=
for name in "$@"; do
  case "$name" in
    '' | *[!A-Za-z0-9.:*-]*) fail "\"$name\" is neither a DNS name nor an IP address" ;;
    *:*) entry="IP:$name" ;;
    *[!0-9.]*) entry="DNS:$name" ;;
    *) entry="IP:$name" ;;
  esac
  sans="${sans:+$sans,}$entry"
done

umask 077
mkdir -p "$out"
work=$(mktemp -d "$out/.making.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM HUP

# exists NAME: both files are there. One alone is an error, since guessing could lose a key.
exists() {
  if [ "$force" = yes ]; then return 1; fi
  if [ -e "$out/$1.crt" ] && [ -e "$out/$1.key" ]; then return 0; fi
  if [ -e "$out/$1.crt" ] || [ -e "$out/$1.key" ]; then
    fail "$out has only one of $1.crt and $1.key; remove it or use --force"
  fi
  return 1
}

new_key() {
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/$1.key" 2>/dev/null
}

# Key first: a certificate is never there without its key.
publish() {
  mv -f "$work/$1.key" "$out/$1.key"
  chmod 644 "$work/$1.crt"
  mv -f "$work/$1.crt" "$out/$1.crt"
  echo "made $out/$1.crt and $1.key"
}

make_ca() {
  new_key ca
  cat >"$work/ca.cnf" <<'CNF'
[req]
prompt = no
distinguished_name = name
x509_extensions = ca
[name]
CN = rankward development CA
[ca]
basicConstraints = critical,CA:TRUE,pathlen:0
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
CNF
  openssl req -x509 -new -key "$work/ca.key" -sha256 -days $((days * 10)) -config "$work/ca.cnf" \
    -out "$work/ca.crt"
  publish ca
}

# make_leaf NAME CN USAGE [SANS]
make_leaf() {
  new_key "$1"
  openssl req -new -key "$work/$1.key" -subj "/CN=$2" -out "$work/$1.csr"
  {
    echo "basicConstraints = critical,CA:FALSE"
    echo "keyUsage = critical,digitalSignature"
    echo "extendedKeyUsage = $3"
    echo "subjectKeyIdentifier = hash"
    echo "authorityKeyIdentifier = keyid:always"
    if [ $# -ge 4 ]; then echo "subjectAltName = $4"; fi
  } >"$work/$1.ext"
  serial=0x4$(openssl rand -hex 15)
  openssl x509 -req -in "$work/$1.csr" -CA "$out/ca.crt" -CAkey "$out/ca.key" -sha256 \
    -days "$days" -set_serial "$serial" -extfile "$work/$1.ext" -out "$work/$1.crt" 2>/dev/null ||
    fail "certificate $1 could not be made (are the names right?)"
  publish "$1"
}

# One form for names, so that the order of arguments does not matter.
normal() { tr ',' '\n' | sed 's/ //g; s/^IPAddress:/IP:/' | LC_ALL=C sort -u; }

if ! exists ca; then
  for leaf in server scheduler-client apiserver-client; do
    if [ "$force" = no ] && [ -e "$out/$leaf.crt" ]; then
      fail "$out has $leaf.crt but no CA; use --force to make everything anew"
    fi
  done
  make_ca
fi

if exists server; then
  have=$(openssl x509 -in "$out/server.crt" -noout -ext subjectAltName | tail -n +2 | normal)
  # Compared through OpenSSL's own spelling of addresses, by making the request's extension.
  new_key compare
  openssl req -new -key "$work/compare.key" -subj /CN=compare -addext "subjectAltName=$sans" \
    -out "$work/compare.csr" 2>/dev/null || fail "the names are not usable: $sans"
  want=$(openssl req -in "$work/compare.csr" -noout -text |
    grep -A1 'Subject Alternative Name' | tail -n 1 | normal)
  [ "$have" = "$want" ] || fail "$out/server.crt has other names; remove it and its key, or use --force"
else
  make_leaf server rankward serverAuth "$sans"
fi
exists scheduler-client || make_leaf scheduler-client system:kube-scheduler clientAuth
exists apiserver-client || make_leaf apiserver-client kube-apiserver clientAuth

for leaf in server scheduler-client apiserver-client; do
  openssl verify -CAfile "$out/ca.crt" "$out/$leaf.crt" >/dev/null 2>&1 ||
    fail "$out/$leaf.crt is not valid under $out/ca.crt (expired, or of an older CA); use --force"
done
echo "ready: $out"
