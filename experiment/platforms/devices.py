"""Browser and operating system family from what a browser says of itself, in the words of our own page (web/src/checks.ts)."""

import re

BROWSERS = {
    r"Edg(e|A|iOS)?/": "Edge",
    r"OPR/|Opera": "Opera",
    r"SamsungBrowser/": "Samsung Internet",
    r"Firefox/|FxiOS/": "Firefox",
    r"Chrome/|Chromium/|CriOS/": "Chrome",
    r"Safari/": "Safari",
}
OPERATING_SYSTEMS = {
    r"Windows": "Windows",
    r"Android": "Android",
    r"iPhone|iPad|iPod": "iOS",
    r"CrOS": "ChromeOS",
    r"Mac OS X|Macintosh": "macOS",
    r"Linux|X11": "Linux",
}


def identify_device(user_agent: str) -> str:
    """Return the families, without versions.

    >>> identify_device("Mozilla/5.0 (Windows NT 10.0; rv:61.0) Gecko/20100101 Firefox/61.0")
    'Firefox on Windows'
    """
    browser = next((name for mark, name in BROWSERS.items() if re.search(mark, user_agent)), "another browser")
    system = next((name for mark, name in OPERATING_SYSTEMS.items() if re.search(mark, user_agent)), "another system")
    return f"{browser} on {system}"
