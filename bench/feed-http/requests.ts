// Requests as they go over the wire.

const CLIENT =
  'Client-ID: 3381af92-2b9e-11e3-b191-71861300734c\r\nX-Project-ID: bench\r\nAccept: application/json\r\n'
const QUEUE = '/v2/queues/bench'
const MESSAGES = `${QUEUE}/messages`

/** The whole body of a post of one message has 64 to 256 bytes, in even steps. */
export function posts(): string[] {
  return Array.from({ length: 65 }, (_, at) => post([bodyOf(64 + at * 3)]))
}

/** One post of many messages of about 100 bytes. */
export function bulkPost(count: number): string {
  return post(Array.from({ length: count }, () => bodyOf(100)))
}

export function pages(): string[] {
  return [request('GET', `${MESSAGES}?limit=20&echo=true`)]
}

export function claims(): string[] {
  return [request('POST', `${QUEUE}/claims?limit=20`, '{"ttl":300,"grace":60}')]
}

/** Removes the queue with all its messages. */
export function removal(): string {
  return request('DELETE', QUEUE)
}

/** A message whose post, alone in it, has `bytes` bytes. */
function bodyOf(bytes: number): string {
  const around = '{"messages":[]}'.length + '{"ttl":3600,"body":""}'.length
  return `{"ttl":3600,"body":"${'x'.repeat(bytes - around)}"}`
}

function post(messages: readonly string[]): string {
  return request('POST', MESSAGES, `{"messages":[${messages.join(',')}]}`)
}

function request(method: string, path: string, body?: string): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: bench\r\n${CLIENT}`
  if (body === undefined) return `${head}\r\n`
  return `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}
