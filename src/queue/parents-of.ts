import { parents } from '../generated/queue.ts'
import { readAddress } from './address.ts'
import { toId } from './ids.ts'
import type { Parent, ParentState } from './parents.ts'
import type { Source } from './source.ts'
import { PartReader } from './undecodable.ts'

export type { Parent } from './parents.ts'

/** The parents of a job, by its id; none where it is not known. */
export async function parentsOf(source: Source, id: string): Promise<Parent[]> {
  const { unit, codec } = source
  const told = await unit.run(parents, { codec: codec.name, id })
  return told.parents.map(({ queue, id: parent, state, result, kind, message }) => {
    const reader = new PartReader(codec)
    return {
      ...placeOfParent(source, queue, parent),
      state: state as ParentState,
      result: reader.readAny('result', result),
      failure: state === 'dead' ? { kind, message } : null,
      undecodable: reader.undecodable,
    }
  })
}

/** As users call them: its own queue is null, whichever partition it is. */
function placeOfParent(source: Source, address: string, id: string): Pick<Parent, 'queue' | 'id'> {
  const { name, partition } = address === '' ? { name: source.name, partition: null } : readAddress(address)
  const number = partition?.number ?? (address === '' ? source.partition : null)
  const isOwn = address === '' || (partition !== null && name === source.name)
  return { queue: isOwn ? null : name, id: /^\d+$/.test(id) ? toId({ partition: number }, id) : id }
}
