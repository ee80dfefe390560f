// The bytes that calls write to the append-only file: a server sends the same to each of its replicas.

import { Redis } from 'ioredis'
import { TIMES } from './measured-driver.ts'

/** Has the server keep the file from now on, and never rewrite it. */
export async function keepFile(port: number): Promise<void> {
  const client = new Redis(port)
  await client.config('SET', 'auto-aof-rewrite-percentage', '0')
  await client.config('SET', 'appendfsync', 'no')
  await client.config('SET', 'appendonly', 'yes')
  while (!(await client.info('persistence')).includes('aof_rewrite_in_progress:0')) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  client.disconnect()
}

/** An answered call is in the file. */
export async function fileSize(client: Redis): Promise<number> {
  return Number(/aof_current_size:(\d+)/.exec(await client.info('persistence'))?.[1])
}

/** Of the command with which a measured script notes its time, with the transaction around it and the script's own writes. */
export function bytesOfTime(line: string): number {
  const written = ['RPUSH', TIMES, line].map((text) => `$${text.length}\r\n${text}\r\n`)
  return `*3\r\n${written.join('')}`.length
}
