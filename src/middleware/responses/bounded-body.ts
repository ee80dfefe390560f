// Reads a body up to a size limit, without losing one that turns out to be larger.

type Stream = ReadableStream<Uint8Array>
/** Node streams may contain text. */
type Source = ReadableStream<Uint8Array | string>

export type Bounded =
  | { readonly whole: true; readonly bytes: Buffer }
  /** `stream` yields the same body from its beginning; cancel it when it is not wanted. */
  | { readonly whole: false; readonly stream: Stream }

export async function readBounded(body: Source, maxBytes: number): Promise<Bounded> {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { whole: true, bytes: Buffer.concat(chunks) }
    const chunk = toBytes(value)
    chunks.push(chunk)
    size += chunk.byteLength
    if (size > maxBytes) return { whole: false, stream: streamOf(chunks, reader) }
  }
}

/** The chunks read so far, then the rest. */
function streamOf(chunks: Uint8Array[], reader: ReadableStreamDefaultReader<Uint8Array | string>): Stream {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = chunks.shift() ?? (await reader.read()).value
      if (chunk === undefined) controller.close()
      else controller.enqueue(typeof chunk === 'string' ? toBytes(chunk) : chunk)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** A copy: the source may fill its buffer again once it is asked for more. */
function toBytes(chunk: Uint8Array | string): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : Uint8Array.from(chunk)
}
