// A feed as server-sent events. The id of an event is a cursor: a reader that reconnects with the last id misses
// nothing. Bodies are inserted unchanged, except that a line break between two of their tokens becomes a space, because
// the data of an event is one line.

import { setTimeout as sleep } from 'node:timers/promises'
import { AmbiguousError, DriverError, type Feed, type Message, type Page, type ReadOptions } from 'perilune'
import { encodeMessage, encodeUndecodable } from './encode.ts'

/** Errors of a store that is away or full; the stream retries after a pause. */
const AWAY: ReadonlySet<string> = new Set([
  'unreachable',
  'busy',
  'overloaded',
  'store-full',
  'store-read-only',
])
const REST_MS = 1000
/** Without an id: nothing was read. */
const HEARTBEAT = ': heartbeat\n\n'
const [LINE_FEED, RETURN, SPACE] = [0x0a, 0x0d, 0x20]

export interface StreamTerms {
  /** The options to read every page. */
  readonly options: ReadOptions
  /** Ends the stream. */
  readonly signal: AbortSignal
  readonly heartbeat: NonNullable<ReadOptions['wait']>
}

/**
 * The text of the stream from a first page on, null if the store was away; the next page is read when the one before has
 * been sent.
 */
export async function* eventStream(
  feed: Feed<string>,
  first: Page<string> | null,
  { options, signal, heartbeat }: StreamTerms,
): AsyncGenerator<string, void, undefined> {
  yield `retry: 1000\n${first === null ? HEARTBEAT : encodeEvents(first)}`
  let next = first?.next ?? options.after
  try {
    for (;;) {
      const from = next === undefined ? {} : { after: next }
      const page = await orNull(feed.read({ ...options, ...from, wait: heartbeat, signal }))
      if (page === null) {
        yield HEARTBEAT
        await sleep(REST_MS, undefined, { signal })
        continue
      }
      next = page.next
      yield encodeEvents(page)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Null if the store is away: a disconnected reader could not reconnect meanwhile. */
export async function orNull<Value>(reading: Promise<Value>): Promise<Value | null> {
  try {
    return await reading
  } catch (error) {
    const isAway = error instanceof DriverError && AWAY.has(error.code)
    if (isAway || error instanceof AmbiguousError) return null
    throw error
  }
}

/** A page without messages is a heartbeat; its id moves the reader past hidden messages. */
function encodeEvents({ messages, undecodable, next, gap, reset }: Page<string>): string {
  const lost = reset ? 'event: reset\ndata: {}\n\n' : gap ? 'event: gap\ndata: {}\n\n' : ''
  const shown = messages.length === 0 ? `id: ${next}\n: heartbeat\n\n` : messages.map(encodeEvent).join('')
  // Without ids, because they come before earlier messages of the page.
  const others = undecodable.map((each) => `event: undecodable\ndata: ${encodeUndecodable(each)}\n\n`)
  return lost + others.join('') + shown
}

function encodeEvent(message: Message<string>): string {
  return `id: ${message.cursor}\nevent: message\ndata: ${onOneLine(encodeMessage(message))}\n\n`
}

/** As bytes: replacing two million line breaks in a text takes a third of a second. */
function onOneLine(text: string): string {
  if (!/[\r\n]/.test(text)) return text
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === LINE_FEED || bytes[at] === RETURN) bytes[at] = SPACE
  }
  return bytes.toString()
}
