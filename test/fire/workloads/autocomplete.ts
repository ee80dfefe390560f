import { between } from '../cell.ts'
import { repeat, type Site, type Workload } from './workload.ts'

/** The entries that a process may have in the index. */
const OWN = 4

async function change({ recorder, redis, process, luck }: Site): Promise<void> {
  const index = redis.autocomplete('names')
  const key = `${process}-${between(luck, 1, OWN)}`
  const adds = luck() < 0.5
  await recorder.call({ what: adds ? 'add' : 'remove', key }, async () =>
    adds ? index.add(`name ${key}`, { id: key }) : index.remove(key),
  )
}

export const autocomplete: Workload = {
  async work(site) {
    const { recorder, redis } = site
    const suggest = (): Promise<unknown> =>
      recorder.call(
        { what: 'list' },
        () => redis.autocomplete('names').suggest('name', { limit: 100 }),
        (found) => ({ present: found.map(({ id }) => id) }),
      )
    await Promise.all([repeat(site, 70, () => change(site)), repeat(site, 70, suggest)])
  },
}
