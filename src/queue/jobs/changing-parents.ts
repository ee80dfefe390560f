import { changeParents } from '../../generated/queue.ts'
import { learnTold } from '../../runtime/waiting/told.ts'
import type { JobState } from './job.ts'
import type { Source } from '../source/source.ts'

export type ParentsChanged = 'changed' | JobState | 'absent' | 'newer'

/** Lets a job wait for more parents, or for fewer; `parents` as the scripts take them. */
export async function changeParentsOf(
  { unit, chores }: Source,
  id: string,
  parents: string,
  adds: boolean,
): Promise<ParentsChanged> {
  const named = parents.split('\0').filter((parent) => parent !== '')
  const changes = named.map((parent) => ({ adds, parent }))
  const answer = await unit.run(changeParents, { ...(await learnTold(unit)), id, changes })
  if (answer.status === 'refused') return answer.state as ParentsChanged
  void chores.see(answer.chores)
  return 'changed'
}
