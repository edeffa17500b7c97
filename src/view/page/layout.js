// Places for the nodes and edges of a directed graph: ranks from top to bottom, edges going down.
"use strict";

// layoutGraph(nodes, edges, options) takes nodes {w, h, floats, slides, sinks} and edges [from, to] of indices. A node that
// sinks stands in a row below all others. A node that floats (a constant, say) and what depends on such nodes alone goes to just above its first consumer, and so does a
// node that slides (an input), but not what depends on it; others go as far up as they can. An edge over several ranks gets a point in each of them, which keeps its place among the nodes;
// edges of one node share these points (its trunk). Time and memory grow with nodes + edges + points, and there are
// at most options.points of the latter: edges that would need more, and those against the order of a graph with
// cycles, are `jumps`, without a course.
//
// Returns {x, y, rank: of nodes (centre, top); ranks: [{top, height, order}], where order lists nodes and points from
// left to right; vx: x of nodes and points, points behind the nodes; trunkStart, trunkLength: each node's points, of
// the ranks below it; segments: {from, to, start}: between rank r and r + 1 those from start[r] to start[r + 1];
// jumps: [[from, to]]; width, height, left}.
const layoutGraph = (() => {
  const GAP_X = 22, GAP_Y = 38, POINT_WIDTH = 10, ORDER_SWEEPS = 7, PLACE_SWEEPS = 8;
  // Graphs up to this many nodes and points are ordered more often, and the order with the fewest crossings is kept.
  const SMALL = 4000, MORE_SWEEPS = 28;

  // Compressed lists: of item i, list[start[i] .. start[i + 1]).
  function lists(count, keys, values) {
    const start = new Int32Array(count + 1);
    for (const k of keys) start[k + 1]++;
    for (let i = 0; i < count; i++) start[i + 1] += start[i];
    const list = new Int32Array(keys.length), next = start.slice();
    for (let i = 0; i < keys.length; i++) list[next[keys[i]]++] = values[i];
    return { start, list };
  }

  // A topological order; nodes on cycles and behind them come last.
  function topologicalOrder(count, from, to, out) {
    const missing = new Int32Array(count), order = new Int32Array(count), place = new Int32Array(count).fill(-1);
    for (const t of to) missing[t]++;
    let end = 0;
    for (let i = 0; i < count; i++) if (missing[i] === 0) order[end++] = i;
    for (let i = 0; i < end; i++)
      for (let k = out.start[order[i]]; k < out.start[order[i] + 1]; k++)
        if (--missing[out.list[k]] === 0) order[end++] = out.list[k];
    for (let i = 0; i < end; i++) place[order[i]] = i;
    for (let i = 0; i < count; i++) if (place[i] < 0) { place[i] = end; order[end++] = i; }
    return { order, place };
  }

  function ranksOf(nodes, order, ins, outs) {
    const count = nodes.length, rank = new Int32Array(count), anchored = new Uint8Array(count);
    for (const i of order) {
      anchored[i] = nodes[i].floats ? 0 : ins.start[i] === ins.start[i + 1] ? 1 : 0;
      for (let k = ins.start[i]; k < ins.start[i + 1]; k++) {
        rank[i] = Math.max(rank[i], rank[ins.list[k]] + 1);
        anchored[i] |= anchored[ins.list[k]];
      }
    }
    for (let p = count - 1; p >= 0; p--) {
      const i = order[p];
      if ((anchored[i] && !nodes[i].slides) || outs.start[i] === outs.start[i + 1]) continue;
      let least = Infinity;
      for (let k = outs.start[i]; k < outs.start[i + 1]; k++) least = Math.min(least, rank[outs.list[k]]);
      rank[i] = least - 1;
    }
    let bottom = 0, sinks = false;
    for (let i = 0; i < count; i++) if (!nodes[i].sinks) bottom = Math.max(bottom, rank[i] + 1); else sinks = true;
    if (sinks) for (let i = 0; i < count; i++) if (nodes[i].sinks) rank[i] = bottom;
    return rank;
  }

  // The length that trunks may have so that all points together are at most `budget`.
  function longestTrunk(lengths, budget) {
    let low = 0, high = 0;
    for (const l of lengths) high = Math.max(high, l);
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      let sum = 0;
      for (const l of lengths) sum += Math.min(l, middle);
      if (sum <= budget) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function sortRank(order, key, position) {
    const sorted = Array.from(order).sort((a, b) => key[a] - key[b] || position[a] - position[b]);
    sorted.forEach((v, i) => { order[i] = v; position[v] = i; });
  }

  // Means over neighbours of place[], or the own place where there are none.
  function means(order, neighbours, place, key) {
    for (const v of order) {
      const begin = neighbours.start[v], end = neighbours.start[v + 1];
      let sum = 0;
      for (let k = begin; k < end; k++) sum += place[neighbours.list[k]];
      key[v] = begin < end ? sum / (end - begin) : place[v];
    }
  }

  // Moves a rank's nodes as near to the wished places as their widths and order let them (least squares: neighbours
  // that would overlap are pooled).
  function settle(order, width, wish, weight, x) {
    const value = [], mass = [], length = [];
    let offset = 0;
    const offsets = new Float64Array(order.length);
    order.forEach((v, i) => {
      if (i > 0) offset += (width[order[i - 1]] + width[v]) / 2 + GAP_X;
      offsets[i] = offset;
      let a = wish[v] - offset, m = weight[v], n = 1;
      while (value.length > 0 && value[value.length - 1] >= a) {
        const b = value.pop(), w = mass.pop();
        a = (a * m + b * w) / (m + w);
        m += w;
        n += length.pop();
      }
      value.push(a);
      mass.push(m);
      length.push(n);
    });
    let i = 0;
    value.forEach((a, block) => { for (let n = length[block]; n > 0; n--, i++) x[order[i]] = a + offsets[i]; });
  }

  // Crossings of segments between neighbouring ranks: pairs in the wrong order, counted with sums over binary parts of the rank.
  function countCrossings(orders, below, position) {
    let count = 0;
    for (let r = 0; r + 1 < orders.length; r++) {
      const size = orders[r + 1].length, sums = new Int32Array(size + 1);
      let seen = 0;
      for (const v of orders[r]) {
        for (let k = below.start[v]; k < below.start[v + 1]; k++) {
          let before = 0;
          for (let i = position[below.list[k]] + 1; i > 0; i -= i & -i) before += sums[i];
          count += seen - before;
        }
        for (let k = below.start[v]; k < below.start[v + 1]; k++, seen++)
          for (let i = position[below.list[k]] + 1; i <= size; i += i & -i) sums[i]++;
      }
    }
    return count;
  }

  return function layoutGraph(nodes, edges, options = {}) {
    const count = nodes.length, budget = options.points ?? 300000;
    const forward = [], jumps = [];
    {
      const from = edges.map((e) => e[0]), to = edges.map((e) => e[1]);
      const { place } = topologicalOrder(count, from, to, lists(count, from, to));
      for (const e of edges) (place[e[0]] < place[e[1]] ? forward : jumps).push(e);
    }
    let from = forward.map((e) => e[0]), to = forward.map((e) => e[1]);
    const outs = lists(count, from, to), ins = lists(count, to, from);
    const { order: topological } = topologicalOrder(count, from, to, outs);
    const rank = ranksOf(nodes, topological, ins, outs);
    const rankCount = rank.reduce((most, r) => Math.max(most, r + 1), 0);

    // Points of edges over several ranks.
    const trunkLength = new Int32Array(count), trunkStart = new Int32Array(count);
    for (let e = 0; e < from.length; e++)
      trunkLength[from[e]] = Math.max(trunkLength[from[e]], rank[to[e]] - rank[from[e]] - 1);
    const most = longestTrunk(trunkLength, budget);
    trunkLength.fill(0);
    let total = count;
    const courses = [];
    for (let e = 0; e < from.length; e++) {
      const points = rank[to[e]] - rank[from[e]] - 1;
      if (points > most) {
        jumps.push([from[e], to[e]]);
        continue;
      }
      courses.push(e);
      trunkLength[from[e]] = Math.max(trunkLength[from[e]], points);
    }
    for (let i = 0; i < count; i++) { trunkStart[i] = total; total += trunkLength[i]; }
    const rankOf = new Int32Array(total), width = new Float64Array(total).fill(POINT_WIDTH), weight = new Float64Array(total).fill(4);
    const segFrom = [], segTo = [];
    for (let i = 0; i < count; i++) {
      rankOf[i] = rank[i];
      width[i] = nodes[i].w;
      weight[i] = 1;
      for (let k = 0; k < trunkLength[i]; k++) {
        rankOf[trunkStart[i] + k] = rank[i] + k + 1;
        segFrom.push(k === 0 ? i : trunkStart[i] + k - 1);
        segTo.push(trunkStart[i] + k);
      }
    }
    for (const e of courses) {
      const points = rank[to[e]] - rank[from[e]] - 1;
      segFrom.push(points === 0 ? from[e] : trunkStart[from[e]] + points - 1);
      segTo.push(to[e]);
    }
    const above = lists(total, segTo, segFrom), below = lists(total, segFrom, segTo);

    // The order within ranks, at first that in which a walk from the top finds things.
    const members = lists(rankCount, rankOf, Int32Array.from({ length: total }, (_, i) => i));
    const seen = new Float64Array(total);
    topological.forEach((v, i) => {
      seen[v] = i;
      for (let k = 0; k < trunkLength[v]; k++) seen[trunkStart[v] + k] = i;
    });
    const position = new Float64Array(total), key = new Float64Array(total);
    const orders = [];
    for (let r = 0; r < rankCount; r++) {
      orders.push(members.list.subarray(members.start[r], members.start[r + 1]));
      sortRank(orders[r], seen, position);
    }
    const isSmall = total <= SMALL;
    let fewest = Infinity, best = null;
    for (let sweep = 0; sweep < (isSmall ? MORE_SWEEPS : ORDER_SWEEPS) && fewest > 0; sweep++) {
      for (let i = 0; i < rankCount; i++) {
        const r = sweep % 2 === 0 ? i : rankCount - 1 - i;
        means(orders[r], sweep % 2 === 0 ? above : below, position, key);
        sortRank(orders[r], key, position);
      }
      if (!isSmall) continue;
      const crossings = countCrossings(orders, below, position);
      if (crossings >= fewest) continue;
      fewest = crossings;
      best = orders.map((o) => o.slice());
    }
    if (best !== null) best.forEach((o, r) => orders[r].set(o));

    // Places, from left to right and from top to bottom.
    const vx = new Float64Array(total);
    for (const order of orders) {
      let right = 0;
      for (const v of order) { vx[v] = right + width[v] / 2; right += width[v] + GAP_X; }
      for (const v of order) vx[v] -= (right - GAP_X) / 2;
    }
    for (let sweep = 0; sweep < PLACE_SWEEPS; sweep++)
      for (let i = 0; i < rankCount; i++) {
        const r = sweep % 2 === 0 ? i : rankCount - 1 - i;
        means(orders[r], sweep % 2 === 0 ? above : below, vx, key);
        settle(orders[r], width, key, weight, vx);
      }
    const byRank = lists(rankCount + 1, segFrom.map((v) => rankOf[v]), Int32Array.from({ length: segFrom.length }, (_, i) => i));
    const segments = { from: new Int32Array(segFrom.length), to: new Int32Array(segFrom.length), start: byRank.start };
    byRank.list.forEach((s, i) => { segments.from[i] = segFrom[s]; segments.to[i] = segTo[s]; });
    const ranks = [], y = new Float64Array(count);
    let top = 0, left = Infinity, right = -Infinity;
    for (let r = 0; r < rankCount; r++) {
      let height = 0, span = 0;
      for (const v of orders[r]) {
        left = Math.min(left, vx[v] - width[v] / 2);
        right = Math.max(right, vx[v] + width[v] / 2);
        if (v < count) { height = Math.max(height, nodes[v].h); y[v] = top; }
      }
      ranks.push({ top, height, order: orders[r] });
      // Edges that go far to the side get more height.
      for (let s = segments.start[r]; s < segments.start[r + 1]; s++) span = Math.max(span, Math.abs(vx[segments.from[s]] - vx[segments.to[s]]));
      top += height + GAP_Y + Math.min(160, span * 0.06);
    }
    const last = ranks[rankCount - 1];
    return {
      x: vx.subarray(0, count), y, rank, ranks, vx, trunkStart, trunkLength, segments, jumps,
      left: rankCount ? left : 0, width: rankCount ? right - left : 0, height: last ? last.top + last.height : 0,
    };
  };
})();

if (typeof module !== "undefined") module.exports = { layoutGraph };
