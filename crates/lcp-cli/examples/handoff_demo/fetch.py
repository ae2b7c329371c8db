"""Downloads one file of a source distribution from PyPI.

    fetch.py PROJECT ARCHIVE SHA256 MEMBER TARGET

MEMBER is the path in ARCHIVE, TARGET the file to write. The archive must have the given
hash. PIP_INDEX_URL names another index, as for pip.
"""

import hashlib
import html
import io
import os
import re
import sys
import tarfile
import urllib.parse
import urllib.request

TIMEOUT_SECONDS = 180


def get(url):
    with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
        return answer.read()


def address(project, archive):
    """Returns the URL of the archive, without its fragment."""
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    page = f"{index}/{project}/"
    for link in re.findall(r'href="([^"]+)"', get(page).decode()):
        url = urllib.parse.urljoin(page, html.unescape(link))
        if urllib.parse.urlparse(url).path.endswith("/" + archive):
            return urllib.parse.urldefrag(url).url
    sys.exit(f"{archive} does not exist on {page}")


def main():
    project, archive, sha256, member, target = sys.argv[1:]
    data = get(address(project, archive))
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        sys.exit(f"the hash of {archive} is {found}, not {sha256}")
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as files:
        text = files.extractfile(member).read()
    os.makedirs(os.path.dirname(target), exist_ok=True)
    # Write atomically, because an existing file is not downloaded again.
    partial = f"{target}.{os.getpid()}"
    with open(partial, "wb") as file:
        file.write(text)
    os.replace(partial, target)


if __name__ == "__main__":
    try:
        main()
    except (OSError, KeyError, tarfile.TarError) as error:
        sys.exit(str(error))
