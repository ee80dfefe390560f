// Entries in the form of the API, and in the form that the script takes.

import type { AddArguments } from '../generated/autocomplete.ts'
import { checkInteger, checkOptions, checkText } from '../runtime/values/arguments.ts'
import { type Codec, sizeOfEncoded } from '../runtime/values/codec.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { fold, foldsToNothing, MARK, markWords } from './fold.ts'

export interface AddOptions<Payload> {
  /** The rank: greater scores are suggested first. A whole number from -2^52 to 2^52. Default: 0. */
  score?: number
  /** Returned with the suggestion; at most 16 KiB when encoded. Default: none. */
  payload?: Payload
  /** The id of the entry, at most 512 bytes: an entry with the same id is replaced. Default: the text. */
  id?: string
  /** The time after which the entry expires. Default: never. */
  ttl?: Duration
}

export interface NewEntry<Payload> extends AddOptions<Payload> {
  /** The text, at most 512 bytes. */
  text: string
}

export type CheckedEntry = Omit<AddArguments['added'][number], 'marked'>

/** An entry in the form that the script takes; `bytes` is its amount of work. */
export type OutgoingEntry = AddArguments['added'][number] & { readonly bytes: number }

/** The bounds of one script call, in entries and in units of work, as lua/shared/autocomplete/index counts them. */
export const CALL = { items: 100, bytes: 6000 }
const WORK_OF_WORD = 30
const BYTES_OF_WORK = 128
/** The number of bytes that are indexed from each word start on. */
const MOST_SUFFIX_BYTES = 64
const RECORD_HEAD_BYTES = 22

const MOST_TEXT_BYTES = 512
const MOST_PAYLOAD_BYTES = 16 * 1024
const MOST_SCORE = 2 ** 52
const OPTIONS = ['score', 'payload', 'id', 'ttl']

/** Checks an entry; for one of many, `argument` names it in errors. Throws InvalidArgumentError. */
export function checkEntry<Payload>(
  codec: Codec<Payload>,
  entry: NewEntry<Payload>,
  argument?: string,
): CheckedEntry {
  const within = (option: string): string => (argument === undefined ? option : `${argument}.${option}`)
  checkOptions(argument ?? 'options', entry, ['text', ...OPTIONS])
  const text = checkText(within('text'), entry.text, MOST_TEXT_BYTES)
  if (foldsToNothing(text))
    throw new InvalidArgumentError(within('text'), 'must not consist only of white space and accents')
  const payload = encodePayload(codec, entry.payload, within('payload'))
  const { score = 0, ttl } = entry
  return {
    id: checkId(entry.id ?? text, within('id')),
    text,
    score: checkInteger(within('score'), score, -MOST_SCORE, MOST_SCORE),
    ttlMs: ttl === undefined ? 0 : toMs(within('ttl'), ttl),
    payload,
  }
}

/** Folds each text on demand: folding a thousand at once would block the process. */
export function* outgoingOf(checked: readonly CheckedEntry[]): Generator<OutgoingEntry, void, undefined> {
  for (const { text, ...entry } of checked) {
    const marked = markWords(fold(text))
    const stored = [entry.id, text, marked, entry.payload].reduce(
      (sum, each) => sum + Buffer.byteLength(each),
      RECORD_HEAD_BYTES,
    )
    yield { ...entry, text, marked, bytes: Math.ceil(stored / BYTES_OF_WORK) + workOfWords(marked) }
  }
}

function workOfWords(marked: string): number {
  let [work, bytes] = [0, 0]
  for (const word of marked.split(MARK).toReversed()) {
    bytes += Buffer.byteLength(word)
    work += WORK_OF_WORD + Math.min(bytes, MOST_SUFFIX_BYTES)
  }
  return work
}

/** Throws InvalidArgumentError. */
export function checkId(id: unknown, argument = 'id'): string {
  return checkText(argument, id, MOST_TEXT_BYTES)
}

function encodePayload<Payload>(
  codec: Codec<Payload>,
  payload: Payload | undefined,
  argument: string,
): string | Uint8Array {
  if (payload === undefined) return ''
  const encoded = codec.encode(payload)
  sizeOfEncoded(argument, encoded, MOST_PAYLOAD_BYTES)
  return encoded
}
