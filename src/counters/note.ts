// Notes of one tick travel together, a call for each partition; those of one counter are one number.

import { note } from '../generated/counters.ts'
import type { BatchTerms } from '../runtime/calls/batcher.ts'
import { AmbiguousError, DriverError } from '../runtime/errors/errors.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import type { Board } from './board.ts'
import { MAX_A_CALL, partitionFor } from './source.ts'
import { type CounterValue, toValue, valueLess } from './value.ts'

interface Note {
  readonly id: string
  readonly by: number
}

const BATCHES: BatchTerms = {
  name: note.script.name,
  items: MAX_A_CALL,
  bytes: 1024 * 1024,
  underWay: 2,
  gathers: true,
  waiting: 100_000,
}

/** What is shown after it; null when nothing is, or nobody answers. */
export async function noteOne(board: Board, asked: Note): Promise<CounterValue | null> {
  const partition = partitionFor(board, asked.id)
  const batcher = board.runtime.batcher<Note, CounterValue | null>(
    `${partition.prefix} note`,
    BATCHES,
    (items, by) => sendBatch(board, partition, items, by),
  )
  try {
    return await batcher.addOne(asked, asked.id.length)
  } catch (error) {
    // The event is in SQL, and will be shown with what is read from there.
    if (error instanceof DriverError || error instanceof AmbiguousError) return null
    throw error
  }
}

async function sendBatch(
  board: Board,
  partition: Unit,
  notes: readonly Note[],
  by: number,
): Promise<(CounterValue | null)[]> {
  const groups = inGroups(notes)
  const counters = groups.map(({ id, sum }) => ({ id, by: String(sum) }))
  // Sent again after a lost answer it would be shown twice for a round.
  const { values } = await partition.run(note, { counters }, { by, runsOnce: true })
  // What is not shown here may be in another partition.
  if (values.includes(null)) await board.number.checkNowAndThen()
  const told = new Map<Note, CounterValue | null>()
  for (const [at, { members }] of groups.entries()) tell(members, values[at] ?? null, told)
  return notes.map((each) => told.get(each) ?? null)
}

interface Group {
  readonly id: string
  sum: number
  readonly members: Note[]
}

/** Those of a counter, as many as can be summed exactly. */
function inGroups(notes: readonly Note[]): Group[] {
  const groups: Group[] = []
  const open = new Map<string, Group>()
  for (const each of notes) {
    const known = open.get(each.id)
    if (known !== undefined && Number.isSafeInteger(known.sum + each.by)) {
      known.sum += each.by
      known.members.push(each)
      continue
    }
    const group = { id: each.id, sum: each.by, members: [each] }
    open.set(each.id, group)
    groups.push(group)
  }
  return groups
}

function tell(members: readonly Note[], value: string | null, told: Map<Note, CounterValue | null>): void {
  const last = value === null ? null : toValue(value)
  let later = 0
  for (const member of members.toReversed()) {
    told.set(member, last === null ? null : valueLess(last, later))
    later += member.by
  }
}
