// Freezes a Node response that its handler has ended, while it is stored before it is sent. Node would still allow
// changes of its head; another content length would desynchronize the connection. Callers that try get the error that
// Node gives for a sent response.

const REFUSED = ['setHeader', 'setHeaders', 'appendHeader', 'removeHeader', 'writeHead']
const WITHOUT_EFFECT = [
  'flushHeaders',
  'addTrailers',
  'setTrailer',
  'writeContinue',
  'writeEarlyHints',
  'writeInformation',
  'writeProcessing',
]

/**
 * Prevents changes of the head and `destroy` until the returned function is called. `breakOff` is called on each
 * `destroy`.
 */
export function freezeHead(
  response: { statusCode: number; statusMessage: string },
  breakOff: (error?: Error) => void,
): () => void {
  const { statusCode, statusMessage } = response
  const frozen: PropertyDescriptorMap = {
    headersSent: constant(true),
    writableEnded: constant(true),
    statusCode: constant(statusCode),
    statusMessage: constant(statusMessage),
    destroy: constant((error?: Error) => {
      breakOff(error)
      return response
    }),
    ...Object.fromEntries(REFUSED.map((name) => [name, constant(refuse)])),
    ...Object.fromEntries(WITHOUT_EFFECT.map((name) => [name, constant(() => undefined)])),
  }
  // Other code may have set its own methods on the response.
  const before = Object.keys(frozen).map(
    (name) => [name, Object.getOwnPropertyDescriptor(response, name)] as const,
  )
  Object.defineProperties(response, frozen)
  return () => {
    for (const [name, own] of before) {
      if (own === undefined) Reflect.deleteProperty(response, name)
      else Object.defineProperty(response, name, own)
    }
  }
}

/** Assignments are ignored, as on a response that was sent. */
function constant(value: unknown): PropertyDescriptor {
  return { configurable: true, enumerable: true, get: () => value, set: () => undefined }
}

function refuse(): never {
  const error = new Error('Cannot change headers: the response has been ended')
  throw Object.assign(error, { code: 'ERR_HTTP_HEADERS_SENT' })
}
