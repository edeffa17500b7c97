#!/usr/bin/env python3
"""`inspect model --visual` and `view` as servers: what they answer, whom they refuse, and how they end.

    server_test.py BINARY
"""

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import viewer_test

ASSAY = os.path.abspath(sys.argv[1])


@contextlib.contextmanager
def server(folder, *options):
    """The process and its port."""
    with serving(folder, ["inspect", "model", "nested.onnxtxt", "--visual", *(options or ("--visual-port", "0"))]) as (process, port, path):
        assert path == "/", path
        yield process, port


@contextlib.contextmanager
def serving(folder, words):
    """The process, its port and the path of its page."""
    words = [ASSAY, *words]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = ""
        for line in process.stdout:
            if "Viewer available" in line:
                break
        match = re.fullmatch(r"\[I\] Viewer available at http://127\.0\.0\.1:(\d+)(/\S*)  \(press Ctrl\+C to exit\)\n", line)
        assert match, (line, process.stderr.read())
        yield process, int(match[1]), match[2]
    finally:
        process.kill()
        process.communicate()


def ask(port, method="GET", path="/", host=None):
    """Status, headers and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path, headers={"Host": host} if host else {})
    response = connection.getresponse()
    return response.status, response.headers, response.read()


def talk(port, data):
    """All that comes back for these bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
        s.sendall(data)
        received = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := s.recv(65536):
                received += piece
        return received


def status_of(answer):
    return int(answer.split()[1]) if answer else None


def check_answers(port, page):
    status, headers, body = ask(port)
    assert status == 200 and body == page, (status, len(body), len(page))
    assert headers["Content-Type"] == "text/html; charset=utf-8" and headers["Cross-Origin-Resource-Policy"] == "same-origin", headers
    status, headers, body = ask(port, "HEAD")
    assert status == 200 and body == b"" and int(headers["Content-Length"]) == len(page)
    assert ask(port, path="/index.html")[0] == ask(port, path="/?x=1")[0] == 200
    for path in ("/nothing", "/node/node_0", "//", "/../etc/passwd", "/index.html/"):
        assert ask(port, path=path)[0] == 404, path
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "get"):
        status, headers, _ = ask(port, method)
        assert status == 405 and headers["Allow"] == "GET, HEAD", method
    for host in (f"localhost:{port}", "127.0.0.1", "LOCALHOST:9000"):
        assert ask(port, host=host)[0] == 200, host


def check_refusals(port, page):
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "localhost.", "0.0.0.0", f"127.0.0.1:{port}:1", "127.0.0.1:", "localhost:x"):
        status, _, body = ask(port, host=host)
        assert status == 403 and page[:40] not in body, host
    assert status_of(talk(port, b"GET / HTTP/1.1\r\n\r\n")) == 400, "no Host"
    assert status_of(talk(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")) == 400, "two Hosts"
    assert status_of(talk(port, b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n")) == 400
    assert status_of(talk(port, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n")) == 400, "TLS"
    assert status_of(talk(port, b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n")) in (431, None)
    assert status_of(talk(port, b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 50_000)) in (431, None)
    assert status_of(talk(port, b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n" + b"x" * 200_000)) in (405, None)
    assert status_of(talk(port, b"GET / HTTP/1.1\nHost: localhost\n\n")) == 200


def check_patience(port):
    """Connections that say nothing, or a byte now and then, keep nobody waiting, and are ended."""
    silent = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(40)]
    dripping = socket.create_connection(("127.0.0.1", port), timeout=20)
    begin = time.monotonic()
    assert ask(port)[0] == 200
    assert time.monotonic() - begin < 4, "others wait for those who say nothing"
    ended = False
    while not ended and time.monotonic() - begin < 30:
        try:
            dripping.sendall(b"a")
            time.sleep(0.2)
            dripping.settimeout(0.01)
            ended = dripping.recv(10) == b""
        except TimeoutError:
            pass
        except OSError:
            ended = True
    assert ended, "a request that never ends is let go on"
    for s in silent:
        s.settimeout(20)
        assert s.recv(10) == b"", "a silent connection is kept"
        s.close()
    # More than it keeps at a time.
    many = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(150)]
    assert ask(port)[0] == 200
    for s in many:
        s.close()
    assert ask(port)[0] == 200


def check_token(folder):
    """The page of `view` is for those who know its address."""
    with serving(folder, ["view", "nested.onnxtxt", "--port", "0"]) as (_, port, path):
        assert re.fullmatch("/[0-9a-f]{32}/", path), path
        status, _, page = ask(port, path=path)
        assert status == 200 and b"<html" in page[:300] and ask(port, path=path + "index.html")[0] == 200
        assert ask(port, path=path + "?x=1")[0] == 200 and ask(port, path=path + "nothing")[0] == 404
        wrong = "/" + "0" * 32 + "/"
        for other in ("/", "/index.html", path[:-1], path[:-2] + "/", path[1:], wrong, wrong + "index.html", path.upper().replace("/", "//")):
            status, _, body = ask(port, path=other)
            assert status == 403 and b"token" in body and len(body) < 200, (other, status, body[:200])
    with serving(folder, ["view", "nested.onnxtxt", "--port", "0"]) as (_, _, other):
        assert other != path, "each server has a token of its own"


def check_ends(folder):
    with server(folder) as (process, port):
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0, process.returncode
    with server(folder) as (process, port):
        with socket.create_connection(("127.0.0.1", port)):
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0, "with a connection open"
    with server(folder) as (process, port):
        process.terminate()
        assert process.wait(20) == -signal.SIGTERM


def check_ports(folder):
    with server(folder) as (process, port):
        taken = subprocess.run([ASSAY, "inspect", "model", "nested.onnxtxt", "--visual", "--visual-port", str(port)], cwd=folder, capture_output=True, text=True)
        assert taken.returncode == 1, taken
        assert f"cannot listen at 127.0.0.1:{port}: Address already in use" in taken.stderr and "--visual-port" in taken.stderr, taken.stderr
        with contextlib.suppress(OSError):
            address = socket.gethostbyname(socket.gethostname())
            if not address.startswith("127."):
                with socket.socket() as s:
                    s.settimeout(5)
                    assert s.connect_ex((address, port)) != 0, "others can reach it"
    with server(folder, "--visual-port", str(port)) as (_, again):
        assert again == port, "the port is free at once"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = viewer_test.pathlib.Path(name)
        viewer_test.write_models(folder)
        subprocess.run([ASSAY, "inspect", "model", "nested.onnxtxt", "--save-visual", "page.html"], cwd=folder, check=True, capture_output=True)
        with server(folder) as (_, port):
            check_answers(port, (folder / "page.html").read_bytes())
            check_refusals(port, (folder / "page.html").read_bytes())
            check_patience(port)
        check_token(folder)
        check_ends(folder)
        check_ports(folder)
    print("passed")


if __name__ == "__main__":
    main()
