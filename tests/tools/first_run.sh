#!/bin/sh
# `make run`: indexes a folder, asks it a first question, keeps watching it until Ctrl-C.
# first_run.sh FOLDER-OF-THE-COMMANDS WIKI [WORDS]. A wiki that is followed already is only asked.
set -u
bin=$1 wiki=$2 words=${3:-}

# A heading that is a question, else one of the longest section whose words could be one.
question="SELECT heading FROM v1_sections
    WHERE level > 0 AND length(heading) BETWEEN 12 AND 60 AND heading NOT LIKE '-%' AND heading LIKE '% %'
    ORDER BY heading NOT LIKE '%?', heading NOT LIKE '% % %', end_line - start_line DESC, slug LIMIT 1"

ask() {
    [ -n "$words" ] || words=$("$bin/wikiq" sql --wiki "$PWD" "$question" 2>/dev/null)
    printf '\n$ wikiq %s\n' "${words:-pages}"
    if [ -n "$words" ]; then
        "$bin/wikiq" search --wiki "$PWD" --limit 3 -- "$words"
    else
        "$bin/wikiq" pages --wiki "$PWD" --limit 3
    fi
    echo
}

what_to_type() {
    echo
    printf "    cd '%s'\n" "$PWD"
    echo "    $bin/wikiq WORDS...     pages that answer, each with the section that explains it"
    echo "    $bin/wikiq show PAGE    a page, or a section of it: PAGE#section"
    echo "    $bin/wikiq serve        the same in a browser"
    echo "    $bin/wikiq status       how far the index has got"
    echo
}

trap 'exit 0' INT
if [ -d "$wiki" ]; then
    cd "$wiki" || exit
    known=$("$bin/wikiq" status --wiki "$PWD" --json 2>/dev/null)
    case $known in
    *'"daemon": "running"'*)
        index=$(printf '%s' "$known" | sed 's/.*"db": "\([^"]*\)".*/\1/')
        echo "$PWD is followed already, by process $(head -n 1 "${index%/*}/index.lock")."
        ask
        echo 'What to type next:'
        what_to_type
        exit 0
        ;;
    esac
fi
"$bin/indexerd" build "$wiki" || exit
cd "$wiki" || exit

# In the background, so that the first answer comes from a daemon that is there. A shell starts such a
# process deaf to Ctrl-C; it is ended here.
"$bin/indexerd" run --quiet "$PWD" &
daemon=$!
trap 'kill "$daemon" 2>/dev/null; wait "$daemon" 2>/dev/null; exit 0' INT TERM HUP
until "$bin/wikiq" sync --wiki "$PWD" >/dev/null 2>&1; do
    kill -0 "$daemon" 2>/dev/null || { wait "$daemon"; exit; }
    sleep 0.1
done
ask
echo 'The folder is watched until Ctrl-C. What to type next, in another terminal:'
what_to_type
wait "$daemon"
