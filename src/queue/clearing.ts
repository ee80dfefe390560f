import { clear } from '../generated/queue.ts'
import { learnTold } from '../runtime/told.ts'
import type { Source } from './source.ts'

/** Resolves to false when there was nothing. */
export async function clearSource({ unit }: Source): Promise<boolean> {
  const { existed } = await unit.run(clear, await learnTold(unit))
  return existed
}
