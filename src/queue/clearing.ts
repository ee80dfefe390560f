import { clear } from '../generated/queue.ts'
import { learnTold } from '../runtime/waiting/told.ts'
import type { Source } from './source/source.ts'

/** Resolves to false when there was nothing. */
export async function clearSource({ unit }: Source): Promise<boolean> {
  const told = await learnTold(unit)
  const { existed } = await unit.runtime.clearings.run(unit.beginning, () => unit.run(clear, told))
  return existed
}
