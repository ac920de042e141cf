#!/bin/bash
# The program as a shell sees it: completion, and that options reach their subcommand.
set -u
rankward=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

expect() {  # what, expected, actual
  [ "$2" = "$3" ] && return
  echo "FAILED: $1: expected '$2', got '$3'" >&2
  failed=1
}

# Words that bash would offer after the given ones; the last one is being typed.
completed() {
  COMP_WORDS=(rankward "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _rankward
  echo "${COMPREPLY[*]}"
}

eval "$("$rankward" completion bash)"
expect "subcommands" "scan" "$(completed sc)"
expect "forms of check" "text table json sarif github" "$(completed check -o '')"
expect "forms of scan" "policyreport" "$(completed scan --output pol)"
expect "what scan fails on" "enforce warn never" "$(completed scan --fail-on '')"
expect "flags of check" "--fix-hints" "$(completed check --fix)"
expect "nested subcommands" "lift" "$(completed gates '')"
expect "flags of nested subcommands" "--dry-run" "$(completed gates lift --dry)"
expect "shells" "bash zsh fish" "$(completed completion '' | sed 's/ --.*//')"
for form in sarif policyreport enforce fix-hints; do
  for shell in zsh fish; do
    "$rankward" completion $shell | grep -q -- "$form" || expect "$shell knows $form" yes no
  done
done

cat > "$folder/denied.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: team-a}
spec:
  containers: [{name: c}]
  volumes: [{name: v, hostPath: {path: /dev/nvidia0}}]
YAML
cat > "$folder/warned.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: team-a}
spec:
  containers:
  - name: c
    env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
    resources: {limits: {nvidia.com/gpu: 1}}
YAML
echo "a: {{ .b }}" > "$folder/template.yaml"

code() {
  "$@" > "$folder/out" 2> "$folder/err"
  echo $?
}
cd "$folder" || exit 1
expect "check, denied" 1 "$(code "$rankward" check denied.yaml)"
expect "the line that editors follow" "denied.yaml:6: denied" "$(cut -d: -f1-3 out | head -1)"
expect "check, warned" 0 "$(code "$rankward" check warned.yaml)"
expect "check --strict, warned" 2 "$(code "$rankward" check --strict warned.yaml)"
expect "check, unreadable" 3 "$(code "$rankward" check .)"
expect "check of standard input" 1 "$(code "$rankward" check - < denied.yaml)"
expect "check -o github" 1 "$(code "$rankward" check -o github denied.yaml)"
expect "a workflow command" "::error" "$(cut -d' ' -f1 out | head -1)"
expect "scan, denied" 1 "$(code "$rankward" scan denied.yaml)"
expect "scan, warned" 0 "$(code "$rankward" scan warned.yaml)"
expect "scan --fail-on warn" 1 "$(code "$rankward" scan --fail-on warn warned.yaml)"
expect "scan --fail-on never" 0 "$(code "$rankward" scan --fail-on never denied.yaml)"
expect "scan --rule" 0 "$(code "$rankward" scan --rule RT-01,HP-02 denied.yaml)"
expect "scan, unreadable" 3 "$(code "$rankward" scan template.yaml)"
"$rankward" check -o xml denied.yaml > out 2> err && expect "an unknown form is refused" yes no
grep -q "sarif" err || expect "a refusal names the forms" yes no
for command in check scan; do
  "$rankward" $command --help | grep -q "Exit code 0" || expect "help of $command has its codes" yes no
done
exit $failed
