// Splits what a client sends into whole requests: arrays of bulk strings, the only form clients use.

export class RequestReader {
  #rest: Buffer = Buffer.alloc(0)

  /** The requests that are complete with this chunk. */
  read(chunk: Buffer): Buffer[] {
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const requests: Buffer[] = []
    for (let end = endOfRequest(data); end !== -1; end = endOfRequest(data)) {
      requests.push(data.subarray(0, end))
      data = data.subarray(end)
    }
    this.#rest = data
    return requests
  }
}

function endOfRequest(data: Buffer): number {
  let end = data.indexOf('\r\n') + 2
  if (end === 1) return -1
  const strings = Number(data.toString('latin1', 1, end - 2))
  for (let read = 0; read < strings; read++) {
    const bodyAt = data.indexOf('\r\n', end) + 2
    if (bodyAt === 1) return -1
    end = bodyAt + Number(data.toString('latin1', end + 1, bodyAt - 2)) + 2
  }
  return end <= data.length ? end : -1
}
