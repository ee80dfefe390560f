// Renders pages, at most four at once in all processes together; a poster counts as three. In two terminals:
//   npx tsx examples/semaphore/render.ts page 8
//   npx tsx examples/semaphore/render.ts poster 3

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { perilune, type Semaphore } from 'perilune'
import { ioredis } from 'perilune/ioredis'

const WEIGHTS = { page: 1, poster: 3 } as const
type Kind = keyof typeof WEIGHTS

async function render(renders: Semaphore, kind: Kind, number: number): Promise<void> {
  await renders.run(
    async ({ signal }) => {
      console.log(`${kind} ${number} begins`)
      await sleep(300 * WEIGHTS[kind], undefined, { signal })
      console.log(`${kind} ${number} is ready`)
    },
    { weight: WEIGHTS[kind], wait: '2m' },
  )
}

async function renderAll(kind: Kind, count: number): Promise<void> {
  const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
  await using redis = perilune(ioredis(client), { namespace: 'example' })
  const renders = redis.semaphore('renders', { limit: 4, lease: '5s' })
  await Promise.all(Array.from({ length: count }, (_, at) => render(renders, kind, at + 1)))
  console.log('done')
  client.disconnect()
}

const [kind = 'page', count = '5'] = process.argv.slice(2)
if (kind !== 'page' && kind !== 'poster') {
  console.error('say what to render: npx tsx examples/semaphore/render.ts poster 3')
  process.exit(2)
}
await renderAll(kind, Number(count))
