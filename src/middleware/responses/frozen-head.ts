// A response of Node that its handler has ended, and that is kept before it is sent. Node would still let its head be changed: the
// length of another body would put the connection out of step. Whoever tries is told what Node says of one that was sent.

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
 * Nobody changes the head of the response any more, or breaks it off, until the function is called that is answered.
 * `breakOff` is told who tries.
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
  // Others may have put methods of their own on it.
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

/** What is assigned is lost, as it is on a response that was sent. */
function constant(value: unknown): PropertyDescriptor {
  return { configurable: true, enumerable: true, get: () => value, set: () => undefined }
}

function refuse(): never {
  const error = new Error('Cannot change headers: the response has been ended')
  throw Object.assign(error, { code: 'ERR_HTTP_HEADERS_SENT' })
}
