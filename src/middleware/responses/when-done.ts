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
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const read = await reader.read()
        if (!read.done) return controller.enqueue(read.value)
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
  })
  return new Response(body, response)
}
