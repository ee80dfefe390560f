import { type ParentsAnswer, parents } from '../generated/queue.ts'
import { readAddress } from './address.ts'
import { toId } from './ids.ts'
import type { Parent, ParentState } from './parents.ts'
import type { Source } from './source.ts'
import { PartReader } from './undecodable.ts'

export type { Parent } from './parents.ts'

type Told = ParentsAnswer['parents'][number]

/** Less than the script tells of one page at most. */
const PAGE_BYTES = 2 ** 21

/** The parents of a job, by its id; none where it is not known. */
export async function parentsOf(source: Source, id: string): Promise<Parent[]> {
  const told: Told[] = []
  for (;;) {
    const { parents: some } = await source.unit.run(parents, {
      codec: source.codec.name,
      id,
      after: told.length,
    })
    told.push(...some)
    if (isLastPage(some)) return told.map((parent) => toParent(source, parent))
  }
}

/** A page ends early behind large results. */
function isLastPage(told: readonly Told[]): boolean {
  return told.reduce((sum, { result }) => sum + result.length, 0) < PAGE_BYTES
}

function toParent(source: Source, { queue, id, state, result, kind, message }: Told): Parent {
  const reader = new PartReader(source.codec)
  return {
    ...placeOfParent(source, queue, id),
    state: state as ParentState,
    result: reader.readAny('result', result),
    failure: state === 'dead' ? { kind, message } : null,
    undecodable: reader.undecodable,
  }
}

/** As users call them: its own queue is null, whichever partition it is. */
function placeOfParent(source: Source, address: string, id: string): Pick<Parent, 'queue' | 'id'> {
  const { name, partition } = address === '' ? { name: source.name, partition: null } : readAddress(address)
  const number = partition?.number ?? (address === '' ? source.partition : null)
  const isOwn = address === '' || (partition !== null && name === source.name)
  return { queue: isOwn ? null : name, id: /^\d+$/.test(id) ? toId({ partition: number }, id) : id }
}
