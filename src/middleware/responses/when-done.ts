import { ownBytes } from './bounded-body.ts'

/**
 * The same response; `done` is called once its body has been read to the end, or was cancelled. A response to HEAD is
 * done at once, because its body is never read.
 */
export function whenDone(response: Response, { method }: Request, done: () => void): Response {
  if (response.body === null || method === 'HEAD') {
    done()
    return response
  }
  const reader = response.body.getReader()
  // Reads nothing ahead: the source may fill its buffer again once it is asked for more.
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const read = await reader.read()
          // A copy: a server may collect several before it sends them.
          if (!read.done) return controller.enqueue(ownBytes(read.value))
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        done()
      },
      cancel(reason) {
        done()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(body, response)
}
