import { parents } from '../generated/queue.ts'
import type { Parent, ParentState } from './parents.ts'
import type { Source } from './source.ts'

export type { Parent } from './parents.ts'

/** The parents of a job, by its id; none where it is not known. */
export async function parentsOf({ unit, codec }: Source, id: string): Promise<Parent[]> {
  const told = await unit.run(parents, { codec: codec.name, id })
  return told.parents.map(({ queue, id: parent, state, result, kind, message }) => ({
    queue: queue === '' ? null : queue,
    id: parent,
    state: state as ParentState,
    result: result.length === 0 ? null : codec.decode(result),
    failure: state === 'dead' ? { kind, message } : null,
  }))
}
