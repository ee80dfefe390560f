// A webhook that charges an order once:
//   npx tsx examples/once/webhook.ts order-1 5
// Start it in several terminals at once, or again with another amount.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { fingerprintOf, InvalidArgumentError, type Once, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

interface Receipt {
  id: string
  amount: number
}

async function charge(amount: number): Promise<Receipt> {
  console.log(`charging ${amount} …`)
  await sleep(2000)
  return { id: `receipt of process ${process.pid}`, amount }
}

async function receive(payments: Once<Receipt>, order: string, amount: number): Promise<void> {
  try {
    const fingerprint = fingerprintOf(order, String(amount))
    const receipt = await payments.run(order, () => charge(amount), { fingerprint, wait: '30s' })
    console.log(`${order}: ${receipt.id} over ${receipt.amount}`)
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    console.log(`${order} came with another amount before`)
  }
}

const [order, amount] = process.argv.slice(2)
if (order === undefined || amount === undefined) {
  console.error('say what to charge: npx tsx examples/once/webhook.ts order-1 5')
  process.exit(2)
}
const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
const redis = perilune(ioredis(client), { namespace: 'example' })
await receive(redis.once<Receipt>('payments', { resultTtl: '1h', lease: '10s' }), order, Number(amount))
await redis.close()
client.disconnect()
