import { openCounters, openRows } from './counters-places.ts'
import { countersWorks, shownWorks } from './counters-works.ts'
import type { Place, Step, Use } from './use.ts'

/** Rows are past all faults, too: each is there once, however often a step is taken. */
function stepsOfRows(place: Place): readonly Step[] {
  const { database, votes } = openRows(place)
  const vote = (id: number): unknown => database.exec(`INSERT OR IGNORE INTO votes VALUES (${id}, 'a')`)
  const flush = async (): Promise<void> => void (await votes.flush())
  // A lost note does no harm, so the failure is not reported.
  const note = async (id: number): Promise<void> => {
    vote(id)
    await votes.optimisticAdd('a')
  }
  return [
    ['agree', 'refuses', () => votes.get('a')],
    ['show-absent', 'refuses', () => votes.get('b')],
    ['note', 'serves', () => note(1)],
    ['show', 'refuses', flush],
    ['shown', 'serves', () => votes.get('a')],
    ['note', 'serves', () => note(2)],
    ['noted', 'refuses', flush],
    ['shown', 'serves', () => votes.get('a')],
    ['inspect-shown', 'serves', async () => (await votes.inspect()).noted],
    ['clear-shown', 'serves', async () => void (await votes.clear())],
    ['show-absent', 'refuses', () => votes.get('a')],
    ['disband', 'serves', async () => void (await votes.clear())],
  ]
}

function steps(place: Place): readonly Step[] {
  const counters = openCounters(place)
  return [
    ...stepsOfRows(place),
    ['agree', 'serves', async () => (await counters.inspect()).dirty],
    ['begin', 'refuses', () => counters.increment('a', 5)],
    ['load', 'refuses', () => counters.increment('b')],
    ['increment', 'refuses', () => counters.increment('a', 2)],
    ['increment', 'refuses', () => counters.increment('a', 1, { idempotencyKey: 'k' })],
    ['increment', 'refuses', () => counters.increment('a', 1, { idempotencyKey: 'k' })],
    ['inspect', 'serves', async () => (await counters.inspect()).dirty],
    ['get', 'serves', () => counters.getMany(['a', 'b'])],
    ['seal', 'refuses', () => counters.flush()],
    ['increment', 'refuses', () => counters.increment('b')],
    ['ack', 'refuses', () => counters.flush()],
    ['inspect', 'serves', async () => (await counters.inspect()).dirty],
    // Whether there was something to forget, a repetition cannot know.
    ['clear', 'serves', async () => void (await counters.clear())],
    ['load', 'refuses', () => counters.increment('a')],
    ['disband', 'serves', async () => void (await counters.clear())],
  ]
}

export const use: Use = { steps, works: [...countersWorks, ...shownWorks] }
