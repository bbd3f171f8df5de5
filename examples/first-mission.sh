#!/bin/sh
# From an empty organization to a mission that is done and billed, with nothing but curl:
#
#   sh examples/first-mission.sh 'http://localhost:4000/sign-in/link?token=…'
#
# The argument is a sign-in link, as `npm start` and `npm run admin -- sign-in-link --email EMAIL` print it. The script signs in,
# founds an organization, buys a pack of credits with test money on the page of the built-in provider, starts a mission, waits until
# a runtime has done it, and shows what it cost. Secrets go to curl by files and standard input, where no list of processes shows them.
set -eu

link=${1:?"a sign-in link, please: the one that npm start printed"}
base=${link%%/sign-in/*}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$1" >&2
  exit 1
}

# The value of a member of the JSON on standard input: a text or a number.
member() {
  sed -n 's/.*"'"$1"'": *"\{0,1\}\([^",}]*\).*/\1/p'
}

# A call as a browser makes it: with the session's cookie, and for this origin.
as_browser() {
  curl --silent --show-error --cookie "$work/cookies" --cookie-jar "$work/cookies" \
    --header 'Sec-Fetch-Site: same-origin' --header "Origin: $base" "$@"
}

# The form on a page of the console carries a token against forgery, which calls of the API carry as a header.
form_token() {
  as_browser "$base$1" | sed -n 's/.*name="csrf_token" value="\([^"]*\)".*/\1/p' | head -n 1
}

# Standard input is the body, the answer's body comes out; whatever its status, it is JSON.
call() {
  as_browser --header @"$work/headers" --header 'Content-Type: application/json' --request "$1" --data @- "$base$2"
}
get() {
  as_browser --header @"$work/headers" "$base/v1$1"
}

# 1. Sign in. Opening the link shows a page with a button, which sends its token.
printf '%s' "${link##*token=}" | as_browser --output "$work/page" --data-urlencode token@- "$base/sign-in/link"
csrf=$(form_token /console/sessions)
[ -n "$csrf" ] || fail 'The sign-in link is invalid or was used already.'
printf 'X-CSRF-Token: %s\n' "$csrf" >"$work/headers"

# 2. Found an organization, and name it in each call from here on.
organization=$(printf '{"name": "First mission"}' | call POST /v1/organizations)
id=$(printf '%s' "$organization" | member id)
[ -n "$id" ] || fail "$organization"
printf 'X-Org-Id: %s\n' "$id" >>"$work/headers"
echo "Founded $(printf '%s' "$organization" | member slug)."

# 3. Buy a pack of credits. The checkout names a page; pressing its button is what the form sends.
checkout=$(printf '{"offer": "pack", "quantity": 1, "startNowConsent": true}' | call POST /v1/billing/checkout-sessions)
page=$(printf '%s' "$checkout" | member url)
[ -n "$page" ] || fail "$checkout"
printf '%s' "$csrf" | as_browser --header @"$work/headers" --output "$work/page" --data-urlencode csrf_token@- "$page"
paid=$(get "/billing/checkout-sessions/$(printf '%s' "$checkout" | member checkoutId)")
[ "$(printf '%s' "$paid" | member status)" = complete ] || fail "$paid"
echo "Bought $(printf '%s' "$paid" | member credits) credits; the balance is $(get /billing/summary | member balance)."

# 4. Create a project and start a mission: the agent `agn_builtin_shell` runs its prompt as a script, and the line ::cost says what
# it has cost.
project=$(printf '{"name": "Hello", "repoFullName": "demo/hello"}' | call POST /v1/projects | member id)
[ -n "$project" ] || fail 'The project was not created.'
mutation='mutation ($project: String!) { startMission(projectId: $project, agentId: \"agn_builtin_shell\", prompt: \"echo it works; echo ::cost 0.25\") { id } }'
mission=$(printf '{"query": "%s", "variables": {"project": "%s"}}' "$mutation" "$project" | call POST /graphql)
run=$(printf '%s' "$mission" | member id)
[ -n "$run" ] || fail "$mission"
echo "Started $run."

# 5. Wait until a runtime has done it, and its cost is in the ledger: two minutes at most.
tries=0
until get '/billing/ledger?limit=5' | grep -q "\"runId\":\"$run\""; do
  tries=$((tries + 1))
  [ "$tries" -lt 120 ] || fail "The mission is not billed yet: is a runtime running? $(get "/runs/$run")"
  sleep 1
done
echo "The mission is $(get "/runs/$run" | member status), and the ledger says $(get '/billing/ledger?limit=1' | member credits) credits."
echo "The balance is $(get /billing/summary | member balance)."
