/**
 * The same response; `done` is called once it has been read to its end, or nobody wants it any more. Nobody reads what answers
 * HEAD.
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
