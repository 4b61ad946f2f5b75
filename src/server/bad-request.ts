import type { Duplex } from 'node:stream';

interface Answer {
  readonly status: string;
  readonly message: string;
}

const answers: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: 'the headers are larger than this server reads (16 KiB)',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    message: 'the request did not arrive in time',
  },
};
const noHttp: Answer = { status: '400 Bad Request', message: 'this is no request of HTTP/1.1' };

/** The last words to a client whose bytes are no HTTP. */
export function answerBadRequest(error: Error, socket: Duplex): void {
  const code = 'code' in error ? String(error.code) : '';
  if (!socket.writable || code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, message } = answers[code] ?? noHttp;
  const body = `${JSON.stringify({ code: 'invalid_argument', message })}\n`;
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    // What else it sends is not read: nothing after bad bytes has a meaning.
    () => socket.destroy(),
  );
}
