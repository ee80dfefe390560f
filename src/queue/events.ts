// The events of a queue, and how messages encode them (lua/shared/queue/events).

import { checkFlag, checkOneOf, checkOptions, checkText } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { type QueueSource, toId } from './source/source.ts'

const KINDS = [
  'enqueued',
  'replaced',
  'claimed',
  'progress',
  'logged',
  'acked',
  'retried',
  'released',
  'reclaimed',
  'dead',
  'requeued',
  'reprioritized',
  'stopping',
  'cancelled',
  'tagged',
  'tracked',
  'untracked',
] as const

/** `reclaimed`: its lease ended; `stopping`: it was cancelled while an attempt was running. */
export type JobEventKind = (typeof KINDS)[number]

export interface JobEvent {
  readonly kind: JobEventKind
  /** The job's own id, or the one that the queue assigned. */
  readonly id: string
  readonly name: string
  readonly atMs: number
  /** The newest attempt; null before the first. */
  readonly attempt: number | null
  readonly token: number | null
  /** Whether the job is tracked; see `jobs.track`. */
  readonly isTracked: boolean
  /** The kind of the failure, or the line of the log; else empty. */
  readonly more: string
}

/** `gap`: events may be missing here. `cleared`: the queue was cleared. */
export interface QueueWideEvent {
  readonly kind: 'gap' | 'cleared'
}

export type QueueEvent = JobEvent | QueueWideEvent

/** Selects events; default all. `gap` and `cleared` are always reported. */
export interface EventOptions {
  /** Only events of these kinds; default: all. */
  kinds?: readonly JobEventKind[]
  /** Only events of jobs with these names; default: all. */
  names?: readonly string[]
  /** Only events of jobs with these ids; default: all. */
  ids?: readonly string[]
  /** True: only events of tracked jobs. Default false. */
  tracked?: boolean
  /** Ends the stream: the loop throws the signal's reason. */
  signal?: AbortSignal
}

export type EventFilter = (event: QueueEvent) => boolean

/** Throws InvalidArgumentError. */
export function toFilter(options: EventOptions): EventFilter {
  checkOptions('options', options, ['kinds', 'names', 'ids', 'tracked', 'signal'])
  const tracked = checkFlag('tracked', options.tracked ?? false)
  const kinds = setOf('kinds', options.kinds, (kind) => checkOneOf('kinds', kind, KINDS))
  const names = setOf('names', options.names, (name) => checkText('names', name, 512))
  const ids = setOf('ids', options.ids, (id) => checkText('ids', id, 512))
  return (event) => {
    if (!('id' in event)) return true
    const isMeant = (kinds?.has(event.kind) ?? true) && (names?.has(event.name) ?? true)
    return isMeant && (ids?.has(event.id) ?? true) && (event.isTracked || !tracked)
  }
}

function setOf<Item>(name: string, items: unknown, check: (item: Item) => Item): ReadonlySet<Item> | null {
  if (items === undefined) return null
  if (!Array.isArray(items)) throw new InvalidArgumentError(name, 'must be a list')
  return new Set(items.map(check))
}

export interface EventMessage {
  readonly number: number
  readonly events: readonly QueueEvent[]
}

/** The last parsed message. All listeners of this process get the same message one after the other. */
let newest: {
  readonly message: string
  readonly partition: QueueSource['partition']
  readonly read: EventMessage
} | null = null

/** Parses a message. Listeners that get the same message share its events. */
export function readMessage(message: string, source: Pick<QueueSource, 'partition'>): EventMessage {
  const { partition } = source
  if (newest === null || newest.message !== message || newest.partition !== partition)
    newest = { message, partition, read: parse(message, source) }
  return newest.read
}

function parse(message: string, source: Pick<QueueSource, 'partition'>): EventMessage {
  const [head = '', ...lines] = message.split('\n')
  const [number, atMs] = head.split(' ').map(Number)
  const events: QueueEvent[] = []
  for (const line of lines) {
    if (line.startsWith('*')) readPlainLine(line, atMs ?? 0, source, events)
    else events.push(readLine(line, atMs ?? 0, source))
  }
  return { number: number ?? 0, events: events.map((event) => Object.freeze(event)) }
}

/** Parses a line about several plain jobs in their first attempt. */
function readPlainLine(
  line: string,
  atMs: number,
  source: Pick<QueueSource, 'partition'>,
  events: QueueEvent[],
): void {
  const [kind = '', jobs = '', tokens = '', ...spelled] = line.slice(1).split('\t')
  const names = spelled.map(plain)
  const [firstName = ''] = names
  const each = tokens.includes(' ') ? tokens.split(' ') : null
  const firstToken = Number(each?.[0] ?? tokens)
  const attempt = tokens === '' ? null : 1
  for (const [at, number] of jobs.split(' ').entries()) {
    events.push({
      kind: kind as JobEventKind,
      id: toId(source, number),
      name: names[at] ?? firstName,
      atMs,
      attempt,
      token: attempt && Number(each?.[at] ?? firstToken + at),
      isTracked: false,
      more: '',
    })
  }
}

function readLine(line: string, atMs: number, source: Pick<QueueSource, 'partition'>): QueueEvent {
  const [kind = '', number = '', attempt, token, tracked, id = '', name = '', more = ''] = line.split('\t')
  if (kind === 'cleared') return { kind }
  return {
    kind: kind as JobEventKind,
    id: id === '' ? toId(source, number) : plain(id),
    name: plain(name),
    atMs,
    attempt: token === '0' ? null : Number(attempt),
    token: token === '0' ? null : Number(token),
    isTracked: tracked === '1',
    more: plain(more),
  }
}

function plain(text: string): string {
  return text.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
