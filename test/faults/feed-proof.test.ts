// The ordering proof of feeds: soaks under trouble, a checker, and sabotages that the checker must find.

import { expect, inject, onTestFinished, describe, test } from 'vitest'
import { LONG, SEED, tell } from '../proof.ts'
import { startCluster } from '../servers/cluster.ts'
import { startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'
import { checkFeedHistory } from '../soak/check-feed.ts'
import { claimSabotages } from '../soak/claim-sabotages.ts'
import { orderSabotages } from '../soak/order-sabotages.ts'
import { soakHere } from '../soak/soak-here.ts'

test.each([...orderSabotages, ...claimSabotages])('finds: $what', () => {})
