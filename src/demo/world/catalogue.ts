/** The simulated company's apps and their products. */
import type { Period } from './periods.ts'
import type { App, Offer, Plan } from './products.ts'

const TEAM = '7QX2M9K4LV'

const free = (period: Period): Offer => ({
  type: 1,
  id: null,
  discount: 'FREE_TRIAL',
  period,
  cycle: period,
  cycles: 1,
  price_factor: 0,
})

const plan = (fields: Partial<Plan> & Pick<Plan, 'product_id' | 'apple_id' | 'name' | 'tier'>): Plan => {
  const period = fields.period ?? 'P1M'
  return {
    group: '21487001',
    level: 1,
    period,
    billed: period,
    committed: false,
    family: false,
    churn: 0.08,
    introductory: null,
    weight: 20,
    ...fields,
  }
}

const TIDES: App = {
  name: 'Tides',
  bundle_id: 'com.lanternlabs.tides',
  apple_id: 6_470_112_201,
  sku: 'LL-TIDES-01',
  team_id: TEAM,
  android_package: 'com.lanternlabs.tides.android',
  version: '412',
  grace_days: 16,
  account_tokens: 'per_user',
  weight: 45,
  plans: [
    plan({
      product_id: 'tides.plus.weekly',
      apple_id: '6470220011',
      name: 'Tides Plus, weekly',
      period: 'P1W',
      tier: '1.99',
      churn: 0.15,
      introductory: free('P3D'),
      weight: 14,
    }),
    plan({
      product_id: 'tides.plus.monthly',
      apple_id: '6470220012',
      name: 'Tides Plus, monthly',
      tier: '4.99',
      introductory: free('P1W'),
      weight: 46,
    }),
    plan({
      product_id: 'tides.plus.yearly',
      apple_id: '6470220013',
      name: 'Tides Plus, yearly',
      period: 'P1Y',
      tier: '29.99',
      churn: 0.35,
      introductory: free('P1W'),
      weight: 40,
    }),
  ],
  goods: [
    {
      product_id: 'tides.lifetime',
      apple_id: '6470220019',
      name: 'Tides for good',
      type: 'Non-Consumable',
      tier: '49.99',
      family: true,
      max_quantity: 1,
      weight: 1,
    },
  ],
}

const GROUP_MARGIN = '21487002'

const MARGIN: App = {
  name: 'Margin',
  bundle_id: 'com.lanternlabs.margin',
  apple_id: 6_470_112_202,
  sku: 'LL-MARGIN-02',
  team_id: TEAM,
  android_package: null,
  version: '88',
  grace_days: 16,
  account_tokens: 'none',
  weight: 35,
  plans: [
    plan({
      product_id: 'margin.plus.monthly',
      apple_id: '6470220021',
      name: 'Margin Plus, monthly',
      group: GROUP_MARGIN,
      level: 2,
      tier: '4.99',
      introductory: {
        type: 1,
        id: null,
        discount: 'PAY_AS_YOU_GO',
        period: 'P3M',
        cycle: 'P1M',
        cycles: 3,
        price_factor: 0.4,
      },
      weight: 34,
    }),
    plan({
      product_id: 'margin.plus.quarterly',
      apple_id: '6470220022',
      name: 'Margin Plus, quarterly',
      group: GROUP_MARGIN,
      level: 2,
      period: 'P3M',
      tier: '12.99',
      churn: 0.16,
      introductory: {
        type: 1,
        id: null,
        discount: 'PAY_UP_FRONT',
        period: 'P6M',
        cycle: 'P6M',
        cycles: 1,
        price_factor: 1.2,
      },
      weight: 16,
    }),
    plan({
      product_id: 'margin.pro.monthly',
      apple_id: '6470220023',
      name: 'Margin Pro, monthly',
      group: GROUP_MARGIN,
      tier: '9.99',
      churn: 0.07,
      introductory: free('P2W'),
      weight: 24,
    }),
    plan({
      product_id: 'margin.pro.yearly',
      apple_id: '6470220024',
      name: 'Margin Pro, yearly',
      group: GROUP_MARGIN,
      period: 'P1Y',
      tier: '79.99',
      churn: 0.3,
      family: true,
      introductory: free('P2W'),
      weight: 16,
    }),
    plan({
      product_id: 'margin.pro.commitment',
      apple_id: '6470220025',
      name: 'Margin Pro, twelve months billed monthly',
      group: GROUP_MARGIN,
      period: 'P1Y',
      billed: 'P1M',
      committed: true,
      tier: '7.99',
      churn: 0.4,
      weight: 10,
    }),
  ],
  goods: [
    {
      product_id: 'margin.paper',
      apple_id: '6470220029',
      name: 'Paper and ink',
      type: 'Non-Consumable',
      tier: '9.99',
      family: false,
      max_quantity: 1,
      weight: 1,
    },
  ],
}

const GROUP_CHORD = '21487003'

const CHORD: App = {
  name: 'Chord',
  bundle_id: 'com.lanternlabs.chord',
  apple_id: 6_470_112_203,
  sku: 'LL-CHORD-03',
  team_id: TEAM,
  android_package: 'com.lanternlabs.chord',
  version: '1207',
  grace_days: null,
  account_tokens: 'hard_coded',
  weight: 20,
  plans: [
    plan({
      product_id: 'chord.guitar.monthly',
      apple_id: '6470220031',
      name: 'Guitar lessons',
      group: GROUP_CHORD,
      tier: '7.99',
      introductory: free('P1W'),
      weight: 60,
    }),
    plan({
      product_id: 'chord.piano.monthly',
      apple_id: '6470220032',
      name: 'Piano lessons',
      group: GROUP_CHORD,
      tier: '7.99',
      introductory: free('P1W'),
      weight: 40,
    }),
    plan({
      product_id: 'chord.tuition',
      apple_id: '6470220033',
      name: 'Tuition (Advanced Commerce)',
      group: '21487004',
      tier: '39.99',
      weight: 0,
    }),
  ],
  goods: [
    {
      product_id: 'chord.credits',
      apple_id: '6470220038',
      name: 'Lesson credits',
      type: 'Consumable',
      tier: '3.99',
      family: false,
      max_quantity: 5,
      weight: 80,
    },
    {
      product_id: 'chord.season',
      apple_id: '6470220039',
      name: 'Season pass',
      type: 'Non-Renewing Subscription',
      tier: '19.99',
      family: false,
      max_quantity: 1,
      weight: 20,
    },
  ],
}

export const APPS: readonly App[] = [TIDES, MARGIN, CHORD]
