"""Keeps an index of OpenSearch or Elasticsearch equal to the chunks of a wiki; run it from a timer.

Needs nothing but Python and `wikiq`. The cursor is written once the engine has taken everything: a run
that breaks is repeated whole, and does no harm, since what it deletes and writes has names of its own.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

AT_ONCE = 500  # documents in one request: about a megabyte


def ask(url, path, lines, kind):
    """POST a document, or lines of documents; gives the answer."""
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    request = urllib.request.Request(f"{url}/{path}", body, {"Content-Type": kind})  # noqa: S310
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        return json.load(answer)


def delete(url, index, query):
    """Delete the documents that fit; what was written just before is seen too."""
    ask(url, f"{index}/_refresh", [], "application/json")
    told = ask(url, f"{index}/_delete_by_query?refresh=true", [{"query": query}], "application/json")
    if told.get("failures"):
        sys.exit(f"the engine cannot delete: {told['failures'][0]}")


def write(url, index, chunks):
    """Write documents, each under a name that says which chunk it is."""
    for start in range(0, len(chunks), AT_ONCE):
        lines = []
        for chunk in chunks[start : start + AT_ONCE]:
            name = f"{chunk['slug']}#{chunk['section_id']}/{chunk['part']}"
            lines.append({"index": {"_index": index, "_id": name}})
            lines.append(
                {key: chunk[key] for key in ("slug", "href", "heading_path", "content", "source_text")}
            )
        told = ask(url, "_bulk", lines, "application/x-ndjson")
        if told["errors"]:
            wrong = next(item["index"] for item in told["items"] if item["index"]["status"] >= 300)
            sys.exit(f"the engine refuses {wrong['_id']}: {wrong['error']}")


def feed(rows, url, index):
    """Bring the engine to what the rows of `wikiq chunks --since` say; gives the next cursor."""
    everything, slugs, chunks, cursor = False, [], [], None
    for row in rows:
        if row["op"] == "start":
            everything = row["complete"]
        elif row["op"] in ("replace", "delete"):
            slugs.append(row["slug"])
        elif row["op"] == "chunk":
            chunks.append(row)
        elif row["op"] == "end":
            cursor = row["cursor"]
    if cursor is None:
        sys.exit("the feed broke off; nothing was sent")
    if everything:
        delete(url, index, {"match_all": {}})
    for start in range(0, 0 if everything else len(slugs), AT_ONCE):
        delete(url, index, {"terms": {"slug": slugs[start : start + AT_ONCE]}})
    write(url, index, chunks)
    return cursor


def main():
    """Feed once."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", help="of the engine, like http://localhost:9200")
    parser.add_argument("index", help="its index; `slug` must be of type keyword there")
    parser.add_argument("cursor", type=pathlib.Path, help="the file that keeps how far the feed was followed")
    parser.add_argument("--db", help="the index of the wiki, if it is not that of this folder")
    options = parser.parse_args()
    since = options.cursor.read_text().strip() if options.cursor.exists() else "0"
    command = ["wikiq", "chunks", "--ndjson", "--since", since]
    command += ["--db", options.db] if options.db else []
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()
    try:
        cursor = feed(map(json.loads, lines), options.url.rstrip("/"), options.index)
    except urllib.error.URLError as error:
        sys.exit(f"{options.url}: {error}; nothing is lost, the next run repeats this one")
    options.cursor.write_text(cursor + "\n")


if __name__ == "__main__":
    main()
