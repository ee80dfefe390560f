import { type ParentsAnswer, parents } from '../../generated/queue.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { readAddress } from '../source/address.ts'
import { toId } from '../source/ids.ts'
import type { Parent, ParentState } from './parents.ts'
import type { Source } from '../source/source.ts'
import { PartReader } from '../source/job-parts.ts'

export type { Parent } from './parents.ts'

type Told = ParentsAnswer['parents'][number]

/** With so many bytes a page ends. */
const PAGE_BYTES = 2 ** 22

export interface ParentsPageOptions {
  /** `next` of the page before. */
  after?: string
}

export interface ParentsPage {
  readonly parents: readonly Parent[]
  /** Null at the end. */
  readonly next: string | null
}

/** The parents of a job, by its id; none where it is not known. */
export async function parentsOf(source: Source, id: string): Promise<Parent[]> {
  const found: Parent[] = []
  for (let isWhole = false; !isWhole; ) {
    const told = await tell(source, id, found.length)
    found.push(...told.map((parent) => toParent(source, parent)))
    isWhole = isLastPage(told)
  }
  return found
}

/** As far as one answer tells them, behind those that the page before ended with. Throws InvalidArgumentError. */
export async function parentsPage(
  source: Source,
  id: string,
  { after = '0' }: ParentsPageOptions,
): Promise<ParentsPage> {
  if (typeof after !== 'string' || !/^\d{1,3}$/.test(after)) {
    throw new InvalidArgumentError('after', 'must be the next of a page')
  }
  const told = await tell(source, id, Number(after))
  const next = isLastPage(told) ? null : String(Number(after) + told.length)
  return { parents: told.map((parent) => toParent(source, parent)), next }
}

async function tell(source: Source, id: string, after: number): Promise<Told[]> {
  const { parents: told } = await source.unit.run(parents, { codec: source.codec.name, id, after })
  return told
}

/** A page ends early behind large results. */
function isLastPage(told: readonly Told[]): boolean {
  const bytesOf = ({ result, message }: Told): number => result.length + Buffer.byteLength(message)
  return told.reduce((sum, parent) => sum + bytesOf(parent), 0) < PAGE_BYTES
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
