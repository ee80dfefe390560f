// Notes as a request has them, and what is told of them.

import { InvalidArgumentError, type ShownCounters } from 'perilune'
import { toJson } from './increments.ts'

/** As the schema has it. */
interface AskedNote {
  readonly id: string | number
  readonly by?: number
}

/** What is shown after them; null where nothing is. Throws InvalidArgumentError. */
export async function noteAll(
  counters: ShownCounters,
  asked: AskedNote | { readonly notes: readonly AskedNote[] },
): Promise<object> {
  if (!('notes' in asked)) return noteOne(counters, asked, '')
  const { notes } = asked
  return { notes: await Promise.all(notes.map((each, at) => noteOne(counters, each, `notes[${at}].`))) }
}

async function noteOne(counters: ShownCounters, { id, by }: AskedNote, place: string): Promise<object> {
  try {
    const value = await counters.note(id, by)
    return { id: String(id), value: value === null ? null : toJson(value) }
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    const { argument, message } = error
    throw new InvalidArgumentError(place + argument, message.slice(argument.length + 1))
  }
}
