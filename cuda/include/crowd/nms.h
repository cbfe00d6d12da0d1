/* SPDX-FileCopyrightText: gst-crowd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * crowd/nms.h: non-maximum suppression (NMS) on the GPU and on the CPU.
 *
 * A detector leaves hundreds or thousands of overlapping candidate boxes on a frame. These calls keep one box per
 * object, the survivors, and say for every other candidate which survivor represents it. Both backends, `cuda` and
 * `cpu`, honour the same contract and give the same bits.
 *
 * ## The contract
 *
 * Box          float32 x1 y1 x2 y2, any unit. Half-open with pixel_offset 0 (width = x2 - x1); with pixel_offset 1
 *              the last pixel is inclusive (width = x2 - x1 + 1).
 * Valid        All four coordinates finite, x2 > x1 and y2 > y1 (>= with pixel_offset 1), score not NaN and
 *              score >= score_threshold. Anything else never suppresses, never survives, and is counted.
 * Rank         Score descending, then index ascending: a total order. Equal scores, exact duplicates, -0 and +0 all
 *              have one answer. Infinite scores are ordinary scores.
 * Overlap      ratio(a, b) > overlap_threshold (or >=, see CrowdNmsComparator), where
 *                w     = max(0, min(a.x2, b.x2) - max(a.x1, b.x1) + pixel_offset), h likewise in y
 *                inter = w * h
 *                area  = (x2 - x1 + pixel_offset) * (y2 - y1 + pixel_offset)
 *                ratio = inter / denominator      (the denominator is the metric, see CrowdNmsMetric)
 *              in float32, every operation rounded once to nearest, in the order written, no contraction into fused
 *              multiply-add; min(a, b) is b < a ? b : a, max(a, b) is a < b ? b : a. A NaN ratio (areas that underflow
 *              to 0 or overflow) is no overlap.
 *              The threshold is a double, and the answer is that of comparing the float32 ratio with that double, as
 *              torchvision does on the CPU: at 0.3 the ratio 3 / 10 is an overlap, since the float next to it is
 *              0.300000012; at 0.7 the ratio 7 / 10 is none with either comparator.
 * Class        Boxes suppress only boxes of their own class, unless class_agnostic. The class is part of the test;
 *              no coordinates are shifted.
 * Frame        A call takes a batch of frames; boxes meet only boxes of their own frame. A frame's result does not
 *              depend on what else is in the batch.
 * Determinism  The same bytes in give the same bytes out, on every run, backend, GPU and batch composition. The
 *              floating-point modes of the calling thread (rounding, subnormals flushed to zero or taken for it, traps)
 *              change no answer, and are the same after a call, the exception flags included.
 *
 * ## Methods
 *
 * greedy       Candidate i is suppressed iff a *surviving* better-ranked candidate overlaps it. The classic algorithm,
 *              exactly.
 * map-reduce   Candidate i is suppressed iff *any* better-ranked valid candidate overlaps it, surviving or not. One
 *              pass: the rule of Oro et al. 2020 with ties broken by index. Its survivors are a subset of greedy's:
 *              with boxes A > B > C in a row, A and B overlapping, B and C overlapping, greedy keeps A and C,
 *              map-reduce keeps A.
 * paper        Algorithms 1 and 2 of Oro et al. 2020 to the letter, boolean matrix B of D_max x D_max included. It is
 *              a reference for repeating the paper's experiments, not for production:
 *              - pixel offset 1; inter / area of the higher-scored box; suppressed unless ratio < overlap_threshold,
 *                the float32 ratio compared with the double; metric, comparator, pixel_offset, class_agnostic, classes
 *                and score_threshold are ignored;
 *              - equal scores never suppress each other: exact duplicates both survive;
 *              - no validity test. A box of zero width (x2 - x1 == 0) with a higher score suppresses every
 *                lower-scored box, wherever it is. The D_max - n unused slots are such boxes with score 0, so a frame
 *                that is not full loses every box of negative score;
 *              - what is not finite is computed with as well, by the arguments' order in Algorithm 1:
 *                w = max(0, min(i.x2, j.x2) - max(i.x1, j.x1) + 1) for box i and higher-scored j, likewise h. So a NaN
 *                in i makes w or h 0: the two have nothing in common. A NaN in j makes its area NaN, and a NaN ratio is
 *                not below the threshold: j suppresses every lower-scored box. Candidates of NaN score neither suppress
 *                nor are suppressed, and rank last, by index;
 *              - candidates beyond D_max are counted as overflow, and nothing represents them.
 *              The paper's squares {x, y, z} are the boxes {x, y, x + z, y + z}; rectangles use both extents.
 * nmw          Non-maximum weighted, Zhou et al. 2017. The survivors are greedy's. The representative of a suppressed
 *              candidate is the better-ranked survivor that overlaps it with the largest ratio, of equals the
 *              best-ranked. A survivor's box becomes that of Merging's weighted, each member's w times its ratio with
 *              the survivor, whose own ratio is 1: w * ratio is exact in double, its product with a coordinate is
 *              rounded to double. Its score stays. As in ensemble-boxes 1.0.9, which has float64, and IoU > 0.55.
 * wbf          Weighted box fusion, Solovyev et al. 2019. Candidates are taken in rank order. Each joins the cluster of
 *              its class whose fused box has the largest ratio with it, of equals the one founded first, if that is an
 *              overlap with the fused box as the better-ranked one. Else it founds a cluster, whose fused box it is.
 *              When one joins, the fused box becomes that of Merging's weighted, with sums in the order of joining;
 *              where these give none, it stays as it was. Founders are survivors and representatives. Their boxes
 *              become the fused ones, their scores sum(score) / n * min(n, models) / models from left to right, each
 *              operation rounded to double; where that is NaN, the founder's own score stays. As in ensemble-boxes
 *              1.0.9 with conf_type 'avg', in float64, and IoU > 0.55.
 *
 * ## Weights of models
 *
 * Where weight_count is above 0, nmw and wbf read CrowdNmsCandidates::models, which of weight_count models each
 * candidate is of. The score of a candidate is then a product wherever this page speaks of it, but in score_threshold,
 * also of classes: score * factor in float32, rounded once. Candidates of which that is NaN, or whose model is
 * weight_count or more, are not valid, and count as invalid. As in ensemble-boxes 1.0.9 with `weights`.
 *
 * nmw          factor = weight / the largest weight, rounded once to float32. Survivors' scores are products, too.
 * wbf          factor = weight. Scores become sum(score) / n * min(n, weight_count) / sum(weight), the weights added up
 *              in double, in the order of models; `models` is not read.
 *
 * ## Soft methods
 *
 * These lower scores where greedy suppresses, and survivors leave with what is left: CrowdNmsSurvivors::scores. They
 * read scores as weights: one below 0 is below the threshold. Scores only fall, so dropping those that fall below
 * score_threshold on the way, or survivors with less at the end, is the same. All in float32, every operation rounded
 * once. A NaN (infinity times 0) is below every threshold.
 *
 * soft-linear, soft-gaussian
 *              Soft-NMS (Bodla et al. 2017). As long as candidates remain: the best of them, by the score that it has
 *              now, then by index, survives. The score of each remaining one that overlaps it is multiplied by a
 *              factor: linear by 1 - ratio (0 where that is negative), Gaussian by the float next to e^x, x = -(ratio *
 *              ratio) / sigma in double. One whose score falls below its class's threshold is suppressed, and
 *              represented by the survivor that did it. Factors are thus multiplied in the order in which survivors are
 *              found, which is that of their new scores. Gaussian takes every threshold of overlaps as 0, min_overlap,
 *              too, and the comparator as >.
 * matrix-linear, matrix-gaussian
 *              Matrix NMS (Wang et al. 2020, SOLOv2), one pass. With covered(i) the largest ratio of a better-ranked
 *              candidate with i, 0 if there is none, the score of j is multiplied by the least factor(i, j) over all
 *              better-ranked i that overlap j, if that is below 1: linear (1 - ratio) / (1 - covered(i)), no factor
 *              where covered(i) is 1 or more, as of an exact duplicate, whose better one decays j as well; Gaussian the
 *              float next to e^x, x = -((ratio * ratio - covered(i) * covered(i)) * sigma) in double. Thresholds of
 *              overlaps and the comparator are taken as above. A suppressed candidate is represented by the best-ranked
 *              i of that factor, if it survives.
 *
 * e^x is 0 below -700, else, in double: n = trunc(x * 1.4426950408889634 - 0.5),
 * r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10, sum = 1 / 13!, for k from 12 down to 0
 * sum = sum * r + 1 / k!, and the result sum * 2^n.
 *
 * ## Rules
 *
 * A rule says which overlapping pairs count: "overlaps" above is then "overlaps, and the rule has it". Methods paper and
 * wbf have none. `hi` is the better-ranked candidate of a pair.
 *
 * plain        All.
 * adaptive     Adaptive NMS (Liu, Huang, Wang 2019, eq. 4): the threshold is the larger one of overlap_threshold and
 *              hi's density, in [0, 1], which a detector says or which is the largest IoU with another object. A
 *              density that is NaN counts as 0.
 * set          Set NMS (Chu et al. 2020): candidates of the same proposal never suppress each other.
 * visible      NMS by visible boxes (Huang et al. 2020, R2NMS): "Overlap" is about the boxes' visible parts. A
 *              candidate is valid if both of its boxes are well-formed.
 * feature      FeatureNMS (Salscheider 2020): a ratio that does not pass min_overlap is no overlap, one that passes
 *              overlap_threshold is; between them the two overlap iff the L2 distance of their features is at most
 *              max_distance: the sum of (hi[k] - lo[k])^2 in float32, k ascending, every operation rounded once,
 *              compared with the exact square of max_distance. A NaN sum is above it.
 *
 * ## Settings of classes, limits of size
 *
 * A class may have an overlap_threshold and a score_threshold of its own. The former is for what boxes of that class
 * suppress (`hi`). Candidates of a class that is not listed where only listed ones are asked for, or of a width or height
 * beyond the limits, count as below_threshold.
 *
 * ## Merging
 *
 * Greedy and map-reduce can go on from their survivors. Other methods ignore the parameters named here.
 *
 * Members      of a survivor are the candidates that it represents, itself included.
 * min_members  Survivors with fewer members are suppressed after all: they and the candidates that they represented
 *              have no representative then, CROWD_NMS_NONE. The others keep their order. All this precedes
 *              max_survivors.
 * merge        What box a survivor has in CrowdNmsSurvivors::boxes. Of members, but in vote, that is:
 *              none      the survivor's own
 *              mean      each coordinate is sum(x) / n, n being their number
 *              weighted  each coordinate is sum(w * x) / sum(w), with w = 0 < score ? score : 0
 *              union     min of each of x1 and y1, max of each of x2 and y2
 *              vote      as weighted, but of its voters: itself and all valid candidates of its class, better- and
 *                        worse-ranked, that overlap it, whether or not it represents them (Gidaris, Komodakis 2015)
 *              Where sum(w) is 0, infinite or NaN, the survivor's own box stays. x2 >= x1 and y2 >= y1 hold for all of
 *              them; rounding may make two equal.
 * cluster_score  What score it has in CrowdNmsSurvivors::scores. Of members, with merge vote, too:
 *              none      the survivor's own
 *              max       the largest
 *              mean      sum(score) / n
 *              sum       sum(score)
 *              Where that is NaN, infinite scores of either sign, its own score stays.
 * Order        Survivors stay in the order of their own scores, whatever these become.
 * Arithmetic   Sums are in double, from 0 on, one addition after the other in the order of the members' indices; w * x
 *              is a product of doubles, and exact. A quotient is rounded once to double, and what is written once more
 *              to float, all to nearest. min and max are those of Overlap, in the order of indices, the earlier one as
 *              a.
 *
 * ## Output
 *
 * Indices of the survivors in rank order, their number, the representative of each candidate and the number of
 * candidates each survivor represents; what box and score each survivor has by then. Nothing is lost silently: see
 * CrowdNmsReport.
 *
 * Thread-safety: every function may be called from any thread at any time, as long as the calls in flight do not share
 * a workspace, an output or a session.
 *
 * ## Versions
 *
 * Since: 0.1, where nothing else is said. Structs keep their size: what later versions add takes the place of a
 * `reserved` field, and 0 there asks for what this version does. A call with anything else in it is refused, so set
 * structs to 0 before filling them in, as crowd_nms_params_init(), C's = {0} and designated initialisers do. Counts
 * that later versions add come in structs of their own, so that CrowdNmsReport and CrowdNmsTotals stay as they are.
 */

#ifndef CROWD_NMS_H
#define CROWD_NMS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define CROWD_NMS_API __attribute__((visibility("default")))
#else
#define CROWD_NMS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this header. */
#define CROWD_NMS_VERSION_MAJOR 0
#define CROWD_NMS_VERSION_MINOR 1
#define CROWD_NMS_VERSION_MICRO 0
/** A version as one number, which grows with it. */
#define CROWD_NMS_VERSION_NUMBER(major, minor, micro) ((major) * 1000000u + (minor) * 1000u + (micro))
#define CROWD_NMS_VERSION \
  CROWD_NMS_VERSION_NUMBER(CROWD_NMS_VERSION_MAJOR, CROWD_NMS_VERSION_MINOR, CROWD_NMS_VERSION_MICRO)

/** CROWD_NMS_VERSION of the library that runs. */
CROWD_NMS_API uint32_t crowd_nms_version(void);

/** What a call ended with. crowd_nms_status_text() puts it in words. */
typedef enum {
  CROWD_NMS_OK = 0,
  CROWD_NMS_INVALID_ARGUMENT,    /**< a parameter or pointer breaks the contract; nothing was done */
  CROWD_NMS_UNSUPPORTED,         /**< legal, but not with this backend: it lacks the method, or cannot run it with these
                                      parameters (say paper_d_max / paper_k > 1024 threads) */
  CROWD_NMS_WORKSPACE_TOO_SMALL, /**< workspace_bytes is less than the size query gives for these arguments */
  CROWD_NMS_NO_GPU,              /**< no driver, no device, or a library built without CUDA */
  CROWD_NMS_OUT_OF_MEMORY,       /**< host or device memory ran out (sessions only: plain calls never allocate) */
  CROWD_NMS_CUDA_ERROR           /**< the CUDA runtime refused something; see crowd_nms_last_error() */
} CrowdNmsStatus;

typedef enum {
  CROWD_NMS_GREEDY = 0,
  CROWD_NMS_MAP_REDUCE,
  CROWD_NMS_PAPER,
  CROWD_NMS_SOFT_LINEAR,
  CROWD_NMS_SOFT_GAUSSIAN,
  CROWD_NMS_MATRIX_LINEAR,
  CROWD_NMS_MATRIX_GAUSSIAN,
  CROWD_NMS_NMW,
  CROWD_NMS_WBF
} CrowdNmsMethod;

/** The denominator of the overlap ratio. `hi` is the better-ranked box of the pair, `lo` the worse-ranked one. */
typedef enum {
  CROWD_NMS_IOU = 0,      /**< (area(hi) + area(lo)) - inter: intersection over union */
  CROWD_NMS_IOS,          /**< min(area(hi), area(lo)): intersection over the smaller */
  CROWD_NMS_OVER_HIGHER,  /**< area(hi): Algorithm 1 of the paper */
  CROWD_NMS_OVER_LOWER,   /**< area(lo): section 3 of the paper */
  CROWD_NMS_DIOU,         /**< IoU less what the centres are apart (Zheng et al. 2020, DIoU): ratio = iou - d2 / c2, with
                                dx = (hi.x1 + hi.x2) - (lo.x1 + lo.x2), dy likewise, d2 = (dx * dx + dy * dy) * 0.25, and
                                ex = max(hi.x2, lo.x2) - min(hi.x1, lo.x1) + pixel_offset, ey likewise,
                                c2 = ex * ex + ey * ey */
  CROWD_NMS_IOU_NNSTREAMER /**< IoU as NNStreamer's: the intersection takes pixel_offset + 1, the areas pixel_offset; 0
                                where that is negative. Where the IoU with pixel_offset + 1 is not above 0, that */
} CrowdNmsMetric;

typedef enum {
  CROWD_NMS_GREATER = 0,   /**< ratio >  overlap_threshold suppresses (torchvision, OpenCV) */
  CROWD_NMS_GREATER_EQUAL  /**< ratio >= overlap_threshold suppresses */
} CrowdNmsComparator;

/** Which overlapping pairs count, see "Rules". */
typedef enum {
  CROWD_NMS_PLAIN = 0,
  CROWD_NMS_ADAPTIVE, /**< reads CrowdNmsCandidates::densities */
  CROWD_NMS_SET,      /**< reads CrowdNmsCandidates::proposals */
  CROWD_NMS_VISIBLE,  /**< reads CrowdNmsCandidates::visible */
  CROWD_NMS_FEATURE   /**< reads CrowdNmsCandidates::features */
} CrowdNmsRule;

/** What a survivor's box becomes, see "Merging". */
typedef enum {
  CROWD_NMS_MERGE_NONE = 0, /**< its own box */
  CROWD_NMS_MERGE_MEAN,     /**< the mean of its members */
  CROWD_NMS_MERGE_WEIGHTED, /**< their mean, weighted by their scores */
  CROWD_NMS_MERGE_UNION,    /**< the box around them */
  CROWD_NMS_MERGE_VOTE      /**< the mean of all that overlap it, weighted by their scores */
} CrowdNmsMerge;

/** What a survivor's score becomes, see "Merging". */
typedef enum {
  CROWD_NMS_CLUSTER_SCORE_NONE = 0, /**< its own score */
  CROWD_NMS_CLUSTER_SCORE_MAX,      /**< the largest of its members */
  CROWD_NMS_CLUSTER_SCORE_MEAN,     /**< their mean */
  CROWD_NMS_CLUSTER_SCORE_SUM       /**< their sum */
} CrowdNmsClusterScore;

typedef enum {
  CROWD_NMS_BACKEND_CPU = 0,
  CROWD_NMS_BACKEND_CUDA
} CrowdNmsBackend;

/** What a method reads of CrowdNmsParams beside method and overlap_threshold, as bits of CrowdNmsMethodInfo::reads. It
 *  ignores the rest. */
typedef enum {
  CROWD_NMS_READS_RULE = 1,    /**< metric, comparator, pixel_offset, class_agnostic, score_threshold, settings of
                                    classes and limits of size; classes, too */
  CROWD_NMS_READS_D_MAX = 2,   /**< paper_d_max and paper_k */
  CROWD_NMS_READS_MERGE = 4,   /**< merge, cluster_score and min_members */
  CROWD_NMS_READS_SIGMA = 8,   /**< sigma */
  CROWD_NMS_READS_MODELS = 16, /**< models */
  CROWD_NMS_READS_PAIRS = 32,  /**< rule, and what that reads */
  CROWD_NMS_READS_WEIGHTS = 64 /**< weight_count and model_weights; where there are any, the candidates' models */
} CrowdNmsReads;

/** A row of the table of methods. Later versions may append members. */
typedef struct {
  const char *name;        /**< what it is called in text, say "map-reduce" */
  const char *description; /**< what it does, in half a sentence */
  uint32_t backends;       /**< 1u << CrowdNmsBackend for each backend that has it; another one refuses it with
                                CROWD_NMS_UNSUPPORTED. Whether there is a GPU, crowd_nms_cuda_probe() says */
  uint32_t reads;          /**< CrowdNmsReads, or-ed */
  uint32_t changes_scores; /**< 1: survivors have new scores, else 0 */
  uint32_t changes_boxes;  /**< 1: survivors have new boxes, else 0. Merging, and weights of models, which change scores,
                                come on top of these two */
  uint32_t orders_by_new_scores; /**< 1: survivors are in the order of their new scores, else, 0, of those that they came
                                      with */
} CrowdNmsMethodInfo;

/** A row of the table of metrics. Later versions may append members. */
typedef struct {
  const char *name;        /**< what it is called in text, say "over-higher" */
  const char *description; /**< what it does, in half a sentence */
} CrowdNmsMetricInfo;

/** A row of the table of ways of merging. Later versions may append members. */
typedef struct {
  const char *name;        /**< what it is called in text, say "weighted" */
  const char *description; /**< what it does, in half a sentence */
} CrowdNmsMergeInfo;

/** The row of a CrowdNmsMethod; NULL if there is none. The numbers begin at 0 and have no gaps: count up until NULL for
 *  all methods of the library that runs. Static storage. */
CROWD_NMS_API const CrowdNmsMethodInfo *crowd_nms_method_info(uint32_t method);

/** The same of a CrowdNmsMetric. */
CROWD_NMS_API const CrowdNmsMetricInfo *crowd_nms_metric_info(uint32_t metric);

/** A row of the table of rules. Later versions may append members. */
typedef struct {
  const char *name;        /**< what it is called in text, say "adaptive" */
  const char *description; /**< what it does, in half a sentence */
} CrowdNmsRuleInfo;

/** The same of a CrowdNmsRule. */
CROWD_NMS_API const CrowdNmsRuleInfo *crowd_nms_rule_info(uint32_t rule);

/** The same of a CrowdNmsMerge. */
CROWD_NMS_API const CrowdNmsMergeInfo *crowd_nms_merge_info(uint32_t merge);

/** The representative of a suppressed candidate that overlaps no survivor (map-reduce, paper), or one that was
 *  dropped (min_members). */
#define CROWD_NMS_NONE UINT32_C(0xffffffff)

/** The representative of a candidate that was not considered: invalid, below the score threshold, or (paper) beyond
 *  D_max. */
#define CROWD_NMS_REJECTED UINT32_C(0xfffffffe)

/** Most candidates a call can hold: frames * capacity. */
#define CROWD_NMS_MAX_TOTAL UINT32_C(0x7fffffff)

/** One candidate box, see "Box" above. Arrays of boxes on the device are aligned to 16 bytes. */
typedef struct {
  float x1, y1, x2, y2;
} CrowdNmsBox;

/** What holds for a class alone. */
typedef struct {
  int32_t label;            /**< of the class */
  float score_threshold;    /**< NaN: that of the params */
  double overlap_threshold; /**< [0, 1]; NaN: that of the params */
} CrowdNmsClassSettings;

/** Classes that can have settings of their own. */
#define CROWD_NMS_MAX_CLASS_SETTINGS 128u

/** Models that can have weights. */
#define CROWD_NMS_MAX_MODEL_WEIGHTS 16u

/** How to suppress. Fill with crowd_nms_params_init(), then change what differs. A call with a value that is none of an
 *  enumeration's, or beyond the range given here, is refused: CROWD_NMS_INVALID_ARGUMENT. */
typedef struct {
  CrowdNmsMethod method;         /**< default greedy */
  CrowdNmsMetric metric;         /**< default IoU */
  CrowdNmsComparator comparator; /**< default > */
  uint32_t pixel_offset;         /**< 0 (default) or 1 */
  double overlap_threshold;      /**< [0, 1], default 0.5 */
  float score_threshold;         /**< any but NaN, default -infinity: every score counts */
  uint32_t class_agnostic;       /**< 0 (default): per class; 1: across classes */
  CrowdNmsRule rule;             /**< default plain */
  float max_distance;            /**< rule feature only: T, finite and at least 0, default 1 */
  double min_overlap;            /**< rule feature only: N1, [0, overlap_threshold], default 0.1 */
  float min_width, min_height;   /**< a candidate's least extents (pixel_offset included), default 0. None of the four
                                      is NaN */
  float max_width, max_height;   /**< its largest ones, default infinity */
  uint32_t class_count;          /**< entries of class_settings in use, default 0 */
  uint32_t listed_only;          /**< 1: other classes than those in class_settings are left out; 0 (default): they are
                                      clustered as the params say */
  CrowdNmsClassSettings class_settings[CROWD_NMS_MAX_CLASS_SETTINGS]; /**< in any order, no label twice. Where
                                      candidates have no classes, all are of class 0 */
  uint32_t paper_d_max;          /**< method paper only: D_max, the side of B; 0 (default): the capacity rounded up to
                                      a multiple of paper_k. At most 65536 */
  uint32_t paper_k;              /**< method paper only: partitions of a row, a divisor of D_max, default 32. CUDA needs
                                      D_max / k <= 1024 */
  CrowdNmsMerge merge;           /**< default none */
  CrowdNmsClusterScore cluster_score; /**< default none */
  uint32_t min_members;          /**< 0 (default), 1: all survivors; else what has fewer members is dropped */
  float sigma;                   /**< of Gaussian soft methods, above 0 and finite, default 0.5. In soft-gaussian a larger
                                      one lowers scores less, in matrix-gaussian more; there 2 is usual */
  uint32_t models;               /**< method wbf only: how many detectors the candidates of a frame are of, default 1,
                                      and as much as 0 */
  uint32_t weight_count;         /**< methods nmw and wbf only: entries of model_weights in use, one a model, default 0:
                                      all models weigh the same, and the candidates' are not read */
  float model_weights[CROWD_NMS_MAX_MODEL_WEIGHTS]; /**< finite and at least 0, of those in use one above 0 */
  uint32_t reserved[6];          /**< 0 */
} CrowdNmsParams;

/** Most values of a candidate's feature. */
#define CROWD_NMS_MAX_FEATURE_LENGTH 4096u

/**
 * A batch of candidates. Pointers are device pointers in crowd_nms_cuda() and crowd_nms_cuda_gather(), host pointers
 * everywhere else; counts and offsets live where the boxes live. Arrays that the call does not read may be NULL.
 *
 * Frame f holds counts[f] candidates, beginning at element offsets[f] of every array. The first `capacity` of them are
 * looked at, the rest is reported as overflow.
 */
typedef struct {
  const CrowdNmsBox *boxes;
  const float *scores;
  const int32_t *classes;  /**< NULL: all of one class */
  const uint32_t *offsets; /**< [frames]; NULL: frame f begins at f * capacity */
  const uint32_t *counts;  /**< [frames]; NULL: every frame holds exactly `capacity` candidates */
  uint32_t frames;         /**< may be 0 */
  uint32_t capacity;       /**< most candidates of a frame; may be 0. It and frames * capacity are at most
                                CROWD_NMS_MAX_TOTAL */
  uint32_t feature_length; /**< values of a candidate in `features`, at most CROWD_NMS_MAX_FEATURE_LENGTH */
  uint32_t flags;          /**< 0 */
  const float *densities;    /**< rule adaptive */
  const uint32_t *proposals; /**< rule set: which proposal made the candidate */
  const CrowdNmsBox *visible; /**< rule visible: each box's visible part */
  const float *features;     /**< rule feature: feature_length values of each candidate, one candidate after the other */
  const uint32_t *models;    /**< methods nmw and wbf, where weight_count is above 0: which model the candidate is of, from
                                  0 on */
  const void *reserved[3]; /**< NULL */
} CrowdNmsCandidates;

/**
 * What became of a frame's candidates:
 * candidates = overflow + invalid + below_threshold + survivors + suppressed, the last being what is left.
 */
typedef struct {
  uint32_t candidates;      /**< counts[f] as given */
  uint32_t overflow;        /**< beyond the capacity, never looked at */
  uint32_t invalid;         /**< not finite, empty, inverted or NaN score (0 in method paper) */
  uint32_t below_threshold; /**< well-formed, but score < score_threshold, or left out by settings of classes or limits
                                 of size (0 in method paper) */
  uint32_t survivors;       /**< found by NMS, before any clipping */
  uint32_t clipped;         /**< survivors beyond max_survivors, hence not written */
} CrowdNmsReport;

/** Where the results go; same side (host or device) as the candidates, but see crowd_nms_cuda(). */
typedef struct {
  uint32_t *survivors;     /**< [frames * max_survivors]: frame f's survivors from f * max_survivors on, indices within
                                the frame, in rank order; entries past the number of survivors are left as they were */
  uint32_t *members;       /**< NULL, or [frames * max_survivors]: how many candidates the survivor at the same place
                                represents, itself included */
  uint32_t *representatives; /**< NULL, or [frames * capacity]: for candidate i of frame f, at f * capacity + i, the
                                index of the best-ranked survivor that overlaps it (nmw and wbf: see there);
                                itself if it survives;
                                CROWD_NMS_NONE or CROWD_NMS_REJECTED if no survivor does. A representative may be a
                                clipped survivor. Entries past the frame's count are left as they were */
  CrowdNmsReport *reports; /**< [frames] */
  uint32_t max_survivors;  /**< room per frame in `survivors`; the best-ranked ones are written. May be 0: just count */
  uint32_t flags;          /**< 0 */
  CrowdNmsBox *boxes;      /**< NULL, or [frames * max_survivors]: the box of the survivor at the same place, see
                                "Merging" */
  float *scores;           /**< NULL, or [frames * max_survivors]: its score, which soft methods, wbf and
                                weights of models change */
  void *reserved[4];       /**< NULL */
} CrowdNmsSurvivors;

/** The defaults of DeepStream, torchvision and OpenCV users: greedy, IoU > 0.5, per class. */
CROWD_NMS_API void crowd_nms_params_init(CrowdNmsParams *params);

/** CROWD_NMS_OK, or CROWD_NMS_INVALID_ARGUMENT with the reason in crowd_nms_last_error(). Every call that
 *  takes params does it. */
CROWD_NMS_API CrowdNmsStatus crowd_nms_params_check(const CrowdNmsParams *params);

/** One sentence, never NULL, static storage. */
CROWD_NMS_API const char *crowd_nms_status_text(CrowdNmsStatus status);

/** Why the last failing call of this thread failed, with the remedy; "" if none has. Valid until the next such call. */
CROWD_NMS_API const char *crowd_nms_last_error(void);

/**
 * Bytes of scratch memory for a call with these arguments; pure arithmetic, never touches a device. 0 for arguments
 * that are illegal or unsupported. At most 64 bytes a candidate plus a constant (frames add a constant each, of greedy
 * and map-reduce on CUDA 185 KB); on CUDA a capacity of up to 4096 adds 16 bytes a candidate for each 128 of it, begun
 * ones too, and one above up to 5 MiB a call; wbf at most 96, on CUDA 320; weights of models add 4 on the CPU; on CUDA
 * merging and nmw add at most 20, soft-NMS at most 2080 and matrix NMS 2048, in calls of 262144 candidates or more 544
 * and 512, and paper the D_max x D_max matrix. The workspace needs no initialisation and keeps nothing between calls.
 */
CROWD_NMS_API size_t crowd_nms_cpu_workspace_bytes(const CrowdNmsParams *params, uint32_t frames, uint32_t capacity);
CROWD_NMS_API size_t crowd_nms_cuda_workspace_bytes(const CrowdNmsParams *params, uint32_t frames, uint32_t capacity);

/**
 * NMS on the host, in the calling thread. Never allocates, prints or throws. workspace: 64-byte aligned.
 * Cost: for detections O(n log n) plus the boxes of like size that meet. Whatever the boxes, with IoU of 0.3 or more a
 * search for slow ones found none of 16 384 that take greedy or map-reduce above 60 ms, nor of 100 000 above 0.7 s, on
 * one core with AVX2.
 * Other metrics, and an IoU near 0 or 1, do not bound what a box can overlap, and cost up to all pairs, 8 in some 3 ns.
 * A rule that spares candidates that overlap has to be asked for each such pair, which may be all pairs: 10 ns each, and
 * a feature's values. Soft methods ask all pairs that overlap, matrix ones twice: up to 50 ns each. Merging adds O(n);
 * vote and nmw look at all candidates that meet a survivor once more, one in some 3 ns; wbf looks at the clusters near
 * each candidate, which one box as large as the frame makes all of them where ratios bound no distance, one in as much.
 */
CROWD_NMS_API CrowdNmsStatus crowd_nms_cpu(const CrowdNmsParams *params, const CrowdNmsCandidates *candidates,
                                           const CrowdNmsSurvivors *survivors, void *workspace,
                                           size_t workspace_bytes);

struct CUstream_st;

/**
 * NMS on device buffers, enqueued on `stream` (a cudaStream_t or CUstream; NULL is the default stream) in the current
 * context. Returns once enqueued: results and the contents of `workspace` are ordered by the stream.
 * Never allocates, synchronises, prints or throws; may be captured in a CUDA graph. The counts are read on the device.
 * An error that the CUDA runtime keeps for the thread is no failure of the call, and is kept, but for programs that
 * share their copy of the runtime with a statically linked library: cudaFuncSetAttribute() clears it there.
 * workspace: device memory, 256-byte aligned; boxes, also visible ones: 16-byte aligned. Outputs may be mapped pinned host memory.
 * Where the GPU can (Hopper and up), kernels start while their predecessor in the stream ends, and wait for it. A kernel
 * of yours that is launched to start early as well must wait for its own predecessor (griddepcontrol.wait).
 * At most 65535 frames, and a capacity of at most 1048576, of soft methods, nmw, wbf and merge vote 65536:
 * CROWD_NMS_UNSUPPORTED beyond.
 * Soft-NMS costs O(n^2) where each survivor waits for the one before, matrix NMS all pairs that overlap; ranking the
 * survivors of either, n^2 / 256, in small calls n^2 / 32.
 * Merging adds a kernel, one more for min_members, and three above a capacity of 4096. Members cost O(n) but for those of
 * survivors of more than 512; vote compares each survivor with all candidates of its frame, nmw each suppressed
 * candidate with all survivors that rank better. wbf takes candidates that are linked by overlaps of half the threshold (by
 * any at all where the metric implies no IoU) one after another, and other such components beside them: where all are
 * linked, n steps, and up to three times as many where fused boxes overlap candidates of other components, each as long
 * as comparing a candidate with the component's clusters, of which a block takes 1024 at a time.
 */
CROWD_NMS_API CrowdNmsStatus crowd_nms_cuda(const CrowdNmsParams *params, const CrowdNmsCandidates *candidates,
                                            const CrowdNmsSurvivors *survivors, void *workspace,
                                            size_t workspace_bytes, struct CUstream_st *stream);

/** Sums of the reports of many calls. */
typedef struct {
  uint64_t frames;
  uint64_t candidates;
  uint64_t overflow;
  uint64_t invalid;
  uint64_t below_threshold;
  uint64_t survivors;
  uint64_t clipped;
  CrowdNmsReport last; /**< of the last frame */
} CrowdNmsTotals;

/** Survivors as boxes, in rank order: frame f's from f * max_survivors on. All pointers are device pointers; mapped
 *  pinned host memory will do for each but `totals`, which are read and written. */
typedef struct {
  CrowdNmsBox *boxes;    /**< [frames * max_survivors], aligned to 16 bytes */
  float *scores;         /**< [frames * max_survivors] */
  int32_t *classes;      /**< NULL, or [frames * max_survivors]; 0 where the candidates have none */
  uint32_t *members;     /**< NULL, or [frames * max_survivors]; the call must have been asked for members, too */
  uint32_t *counts;      /**< [frames]: survivors written */
  uint32_t *candidates;  /**< NULL, or [frames]: number of candidates, as given */
  CrowdNmsReport *reports; /**< NULL, or [frames]: the survivors' reports once more */
  CrowdNmsTotals *totals;      /**< NULL, or sums that this call's reports are added to. Begin with all bytes 0. Calls that
                                    share totals are ordered by the caller */
  CrowdNmsTotals *totals_copy; /**< NULL, or where the new totals are written as well, say mapped host memory. Each
                                    number is whole at any time; they need not be of one frame */
  void *reserved[4];           /**< NULL */
} CrowdNmsGathered;

/**
 * Gathers the survivors that crowd_nms_cuda() found: to be called after it with the same candidates and survivors, on
 * the same stream. Boxes and scores are those of CrowdNmsSurvivors where it has them, the former aligned to 16 bytes
 * then; else those of the candidates. Enqueues one kernel; never allocates, synchronises, prints or throws; may be
 * captured in a graph.
 */
CROWD_NMS_API CrowdNmsStatus crowd_nms_cuda_gather(const CrowdNmsCandidates *candidates,
                                                   const CrowdNmsSurvivors *survivors,
                                                   const CrowdNmsGathered *gathered, struct CUstream_st *stream);

/**
 * Does what crowd_nms_cuda() and then crowd_nms_cuda_gather() do, and refuses what either refuses, before it enqueues
 * anything. One kernel less where the kernel that finds a frame's survivors can copy them: greedy and map-reduce, a
 * capacity of at most 4096 (2999 of full frames in calls of 65536 candidates or more), neither boxes nor scores in
 * `survivors`, nothing that merges or drops, and one frame or no totals.
 */
CROWD_NMS_API CrowdNmsStatus crowd_nms_cuda_and_gather(const CrowdNmsParams *params,
                                                       const CrowdNmsCandidates *candidates,
                                                       const CrowdNmsSurvivors *survivors,
                                                       const CrowdNmsGathered *gathered, void *workspace,
                                                       size_t workspace_bytes, struct CUstream_st *stream);

/** CROWD_NMS_OK where a CUDA device can be used, else CROWD_NMS_NO_GPU with the reason in crowd_nms_last_error(). */
CROWD_NMS_API CrowdNmsStatus crowd_nms_cuda_probe(void);

/**
 * A session: NMS on host buffers with everything allocated up front. With the CUDA backend candidates go up through
 * pinned memory, and only survivors (and what else was asked for) come back. Features of more than 4 values have memory
 * of their own there, see crowd_nms_session_run().
 */
typedef struct CrowdNmsSession CrowdNmsSession;

/**
 * Makes a session for up to `frames` frames of `capacity` candidates with any method of the backend that does not read
 * paper_d_max, and with paper for a D_max of at most what the given params' paper_d_max and paper_k make it. params may
 * be NULL: paper is then not available, and a run with it is refused. Where params ask for a method that is not to be
 * had, CROWD_NMS_UNSUPPORTED.
 * CUDA: uses the current context (the device's primary one where there is none), whose lifetime must exceed the
 * session's; make it current again around crowd_nms_session_run() and crowd_nms_session_free().
 * On failure *session is NULL.
 */
CROWD_NMS_API CrowdNmsStatus crowd_nms_session_new(CrowdNmsBackend backend, const CrowdNmsParams *params,
                                                   uint32_t frames, uint32_t capacity, CrowdNmsSession **session);

/**
 * Runs on host buffers and returns when the results are there. candidates->frames and ->capacity are at most the
 * session's, also where one of them is 0: CROWD_NMS_INVALID_ARGUMENT beyond. Allocates nothing, but for features
 * of more than 4 values on CUDA: pinned and device memory for the largest call so far. One call at a time per session.
 */
CROWD_NMS_API CrowdNmsStatus crowd_nms_session_run(CrowdNmsSession *session, const CrowdNmsParams *params,
                                                   const CrowdNmsCandidates *candidates,
                                                   const CrowdNmsSurvivors *survivors);

/** Frees a session; NULL is fine. */
CROWD_NMS_API void crowd_nms_session_free(CrowdNmsSession *session);

#ifdef __cplusplus
}
#endif

#endif /* CROWD_NMS_H */
