import { fileURLToPath } from 'node:url'
import { type ViteUserConfig, defineConfig } from 'vitest/config'

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const config: ViteUserConfig = defineConfig({
  resolve: {
    // The library by its public names, as tsconfig.json has it.
    alias: [
      { find: /^perilune$/, replacement: source('src/index.ts') },
      { find: /^perilune\/feed$/, replacement: source('src/feed/feed.ts') },
      { find: /^perilune\/once$/, replacement: source('src/once/once.ts') },
      {
        find: /^perilune\/(middleware|fastify|express|hono)$/,
        replacement: `${source('src/middleware')}/$1.ts`,
      },
      { find: /^perilune\/rate-limit$/, replacement: source('src/rate-limit/rate-limit.ts') },
      { find: /^perilune\/lock$/, replacement: source('src/lock/lock.ts') },
      { find: /^perilune\/semaphore$/, replacement: source('src/semaphore/semaphore.ts') },
      { find: /^perilune\/(ioredis|node-redis)$/, replacement: `${source('src/drivers')}/$1.ts` },
      { find: /^perilune\/testing$/, replacement: source('src/testing/index.ts') },
      { find: /^perilune\/contract\.json$/, replacement: source('lua/contract.json') },
    ],
  },
  test: {
    include: ['{src,server,tools,test}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['test/servers/global.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
})

export default config
