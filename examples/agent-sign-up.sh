#!/bin/sh
# An agent signs up by itself and is claimed by its person, with nothing but curl (docs/contract.md#agent-registration):
#
#   sh examples/agent-sign-up.sh you@example.com [http://localhost:4000]
#
# It registers, shows you a code and an address, and polls until you have decided there. Then it asks who it is, and which
# projects it sees. Secrets go to curl by standard input, where no list of processes shows them.
set -eu

email=${1:?"the mail address of your account, please"}
base=${2:-${BASE_URL:-http://localhost:4000}}

# The value of a member of the JSON on standard input: a text or a number.
member() {
  sed -n 's/.*"'"$1"'": *"\{0,1\}\([^",}]*\).*/\1/p'
}

# Standard input is the body, the answer's body comes out; whatever its status, it is JSON.
post() {
  curl --silent --show-error --data @- --header "Content-Type: $2" "$base/v1$1"
}

get() {
  printf 'Authorization: Bearer %s' "$token" | curl --silent --show-error --header @- "$base/v1$1"
  echo
}

fail() {
  echo "$1" >&2
  exit 1
}

agent=$(printf '{"type":"anonymous","agent_name":"Example agent (curl)"}' | post /agent/identity application/json)
claim_token=$(printf '%s' "$agent" | member claim_token)
[ -n "$claim_token" ] || fail "$agent"
echo "Registered as $(printf '%s' "$agent" | member registration_id)."

claim=$(printf '{"claim_token":"%s","email":"%s"}' "$claim_token" "$email" | post /agent/identity/claim application/json)
interval=$(printf '%s' "$claim" | member interval)
[ -n "$interval" ] || fail "$claim"

echo
echo "Open     $(printf '%s' "$claim" | member verification_uri)"
echo "sign in as $email, and type the code"
echo "         $(printf '%s' "$claim" | member user_code)"
echo
echo "Waiting for your decision ..."

while :; do
  sleep "$interval"
  answer=$(printf 'grant_type=urn:workos:agent-auth:grant-type:claim&claim_token=%s' "$claim_token" |
    post /oauth2/token application/x-www-form-urlencoded)
  token=$(printf '%s' "$answer" | member access_token)
  [ -z "$token" ] || break
  case $(printf '%s' "$answer" | member error) in
    authorization_pending) ;;
    # The longer interval applies to this and all later polls (RFC 8628, section 3.5).
    slow_down) interval=$((interval + 5)) ;;
    access_denied) fail 'You said no. Run this again to ask anew.' ;;
    expired_token) fail 'The code ran out after ten minutes, or was locked. Run this again for a new one.' ;;
    *) fail "$answer" ;;
  esac
done

# A real agent keeps identity_assertion, which lasts as long as the access, and exchanges it for a new token every hour.
echo "Done: $(printf '%s' "$answer" | member scope)"
echo
echo 'GET /v1/me'
get /me
echo 'GET /v1/projects'
get /projects
