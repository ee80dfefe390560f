// Reads a body up to a size limit, without losing one that turns out to be larger.

import { isUint8Array } from 'node:util/types'

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
    const chunk = ownBytes(value)
    chunks.push(chunk)
    size += chunk.byteLength
    if (size > maxBytes) return { whole: false, stream: streamOf(chunks, reader) }
  }
}

/** The chunks read so far, then the rest. */
function streamOf(chunks: Uint8Array[], reader: ReadableStreamDefaultReader<Uint8Array | string>): Stream {
  // Reads nothing ahead: the source may fill its buffer again once it is asked for more.
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = chunks.shift() ?? (await reader.read()).value
        if (chunk === undefined) controller.close()
        else controller.enqueue(ownBytes(chunk))
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/**
 * A copy: the source may fill its buffer again once it is asked for more. Throws TypeError for what is neither text nor
 * bytes, at which the response breaks off without us, too.
 */
export function ownBytes(chunk: unknown): Uint8Array {
  if (typeof chunk === 'string') return Buffer.from(chunk)
  if (isUint8Array(chunk)) return Uint8Array.from(chunk)
  throw new TypeError('a chunk of a response must be text or bytes')
}
