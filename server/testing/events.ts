// A reader of server-sent events.

interface ServerEvent {
  /** `message` unless the stream says otherwise; null for one without data, such as a heartbeat. */
  readonly event: string | null
  readonly id: string | null
  readonly data: string
}

export interface EventReader extends AsyncDisposable {
  readonly status: number
  readonly type: string | null
  /** The next event; null at the end of the stream. */
  next(): Promise<ServerEvent | null>
  /** Like `next`, but skips events without data. */
  nextNamed(): Promise<ServerEvent | null>
  close(): void
}

export async function openEvents(url: string, headers: Record<string, string> = {}): Promise<EventReader> {
  const leaving = new AbortController()
  const { status, headers: answered, body } = await fetch(url, { headers, signal: leaving.signal })
  const blocks = blocksOf(body)
  const next = async (): Promise<ServerEvent | null> => {
    const { value, done } = await blocks.next()
    return done ? null : parse(value)
  }
  const nextNamed = async (): Promise<ServerEvent | null> => {
    const event = await next()
    return event === null || event.event !== null ? event : nextNamed()
  }
  const close = (): void => leaving.abort()
  return {
    status,
    type: answered.get('content-type'),
    next,
    nextNamed,
    close,
    async [Symbol.asyncDispose]() {
      close()
    },
  }
}

async function* blocksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body ?? []) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    yield* blocks
  }
  return undefined
}

function parse(block: string): ServerEvent {
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()]
    }),
  )
  const data = fields.get('data')
  const event = data === undefined ? null : (fields.get('event') ?? 'message')
  return { event, id: fields.get('id') ?? null, data: data ?? '' }
}
