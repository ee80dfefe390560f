import type { CollectionList, CollectionSet } from 'perilune'
import { between } from '../cell.ts'
import { nowUs } from '../clock.ts'
import { repeat, type Site, type Workload } from './workload.ts'

const ITEMS = 5
/** The items that a process may have in the set. */
const OWN = 4

/** All items of a version say which one it is. */
async function replace({ recorder }: Site, list: CollectionList<number>): Promise<void> {
  const version = nowUs()
  const items = Array.from({ length: ITEMS }, () => version)
  await recorder.call(
    { what: 'replace', key: 'list', given: { version } },
    () => list.replace(items, { version }),
    ({ status }) => ({ status }),
  )
}

async function read({ recorder }: Site, list: CollectionList<number>): Promise<void> {
  await recorder.call(
    { what: 'read', key: 'list' },
    () => list.read(),
    (page) => (page.status === 'page' ? { items: page.items, version: page.version } : { items: null }),
  )
}

async function change({ recorder, process, luck }: Site, set: CollectionSet<string>): Promise<void> {
  const key = `${process}-${between(luck, 1, OWN)}`
  const adds = luck() < 0.5
  await recorder.call(
    { what: adds ? 'add' : 'remove', key },
    async () => (adds ? set.add([key]) : set.remove([key])),
    ({ status }) => ({ took: status !== 'absent' }),
  )
}

async function listSet({ recorder }: Site, set: CollectionSet<string>): Promise<void> {
  await recorder.call(
    { what: 'list' },
    () => set.read({ limit: 100 }),
    (page) => ({ present: page.status === 'page' ? page.items : [] }),
  )
}

export const collection: Workload = {
  async work(site) {
    const listed = site.redis.collection<number>('list', { kind: 'list', ttl: '1h' })
    const set = site.redis.collection<string>('set', { kind: 'set', ttl: '1h' })
    // One of them creates it; earlier calls got the answer `absent`.
    if (site.process === 0) await set.replace([]).catch(() => undefined)
    await Promise.all([
      repeat(site, 100, () => replace(site, listed)),
      repeat(site, 60, () => read(site, listed)),
      repeat(site, 80, () => change(site, set)),
      repeat(site, 80, () => listSet(site, set)),
    ])
  },
}
