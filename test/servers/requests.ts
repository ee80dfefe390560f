// Splits what a client sends into whole requests: arrays of bulk strings, the only form clients use.

export class RequestReader {
  #chunks: Buffer[] = []
  #length = 0
  /** The next request is not whole before there are this many bytes. */
  #needed = 1

  /** The requests that are complete with this chunk. */
  read(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    return this.#length < this.#needed ? [] : this.#split(Buffer.concat(this.#chunks))
  }

  #split(data: Buffer): Buffer[] {
    const requests: Buffer[] = []
    let start = 0
    let end = lengthOfRequest(data)
    while (start + end <= data.length) {
      requests.push(data.subarray(start, start + end))
      start += end
      end = lengthOfRequest(data.subarray(start))
    }
    this.#chunks = [data.subarray(start)]
    this.#length = data.length - start
    this.#needed = end
    return requests
  }
}

/** The length of the first request; of an incomplete one, its minimum. */
function lengthOfRequest(data: Buffer): number {
  const head = readCount(data, 0)
  if (head === undefined) return data.length + 1
  let end = head.end
  for (let read = 0; read < head.count; read++) {
    const string = readCount(data, end)
    if (string === undefined) return Math.max(data.length, end) + 1
    end = string.end + string.count + 2
  }
  return end
}

/** Reads `*3\r\n` or `$12\r\n`; undefined when it is not all there. */
function readCount(data: Buffer, at: number): { count: number; end: number } | undefined {
  const lineEnd = data.indexOf('\r\n', at)
  if (lineEnd === -1) return undefined
  return { count: Number(data.toString('latin1', at + 1, lineEnd)), end: lineEnd + 2 }
}
