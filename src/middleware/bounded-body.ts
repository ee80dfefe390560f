// Reading a body up to a size, without losing one that turns out to be larger.

type Stream = ReadableStream<Uint8Array>

export type Bounded =
  | { readonly whole: true; readonly bytes: Buffer }
  /** `stream` yields the same body from its beginning; cancel it when it is not wanted. */
  | { readonly whole: false; readonly stream: Stream }

export async function readBounded(body: Stream, maxBytes: number): Promise<Bounded> {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { whole: true, bytes: Buffer.concat(chunks) }
    chunks.push(value)
    size += value.byteLength
    if (size > maxBytes) return { whole: false, stream: streamOf(chunks, reader) }
  }
}

/** What was read, then what is still to come. */
function streamOf(chunks: Uint8Array[], reader: ReadableStreamDefaultReader<Uint8Array>): Stream {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = chunks.shift() ?? (await reader.read()).value
      if (chunk === undefined) controller.close()
      else controller.enqueue(chunk)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
